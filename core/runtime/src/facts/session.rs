//! `session`: whether another session of the project goes on.

use phasegate_core::FactValue;

use super::source::{FactSource, World};
use crate::project::{Project, session_key};
use crate::sessions::{LIVE_FOR, SessionInfo, kept, read, since};

/// Whether a session goes on: `false` where it has ended, where every process that served it is gone, or after a week
/// without an event. Absent: nothing was ever kept of it, or its journal was removed after its time.
pub(super) struct Session;

impl FactSource for Session {
    const NAME: &'static str = "session";
    type Arguments = String;

    fn gather(world: World<'_>, id: &String) -> FactValue {
        world.project.map_or(FactValue::Unknown, |project| goes_on(project, id))
    }
}

fn goes_on(project: &Project, id: &str) -> FactValue {
    let Ok(shared) = kept(project) else { return FactValue::Unknown };
    let key = session_key(id);
    let found = read(project, &shared, vec![project.session_file(&key)], &|name| name == key);
    match found.known.first() {
        Some(session) => FactValue::Known((!is_over(session)).into()),
        // A journal that is damaged, or that the project's own journal misses, hides what its session does.
        None if !found.damaged.is_empty() || found.hidden.is_some() || shared.sessions.contains_key(&key) => {
            FactValue::Unknown
        }
        None => FactValue::Absent,
    }
}

/// Whether it has ended, by its own word or as its processes show.
fn is_over(session: &SessionInfo) -> bool {
    let mut processes = session.clients.iter().chain(&session.guards).peekable();
    let is_gone = processes.peek().is_some() && processes.all(|process| process.gone());
    session.state.session.ended || is_gone || since(session.active) >= LIVE_FOR
}
