//! Sessions whose client an agent of another project started. What forbids a call there cannot be judged here, so while a
//! run there is live in block mode, such a session only reads (rules 4.3).

use phasegate_adapter::Problem;
use phasegate_core::calls::tool::only_reads;
use phasegate_core::{Code, Event, EventKind, State};
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::locations::Locations;
use crate::project::{Project, every_project};
use crate::sessions::is_strict;
use crate::sessions::lineage::{Origin, Reached};
use crate::sessions::live::readable_sessions;
use crate::sessions::snapshot::SessionSnapshot;

/// The most sessions that one is kept to be below of.
const MAX_OUTER: usize = 8;

/// The sessions of other guarded projects that started the client of this one, those known before among them. `None` where
/// the client is not seen.
pub(crate) fn found(origin: &Origin, reached: &Reached<'_>, before: &[String]) -> Option<Vec<String>> {
    let processes = origin.processes();
    let (_, above) = processes.split_first()?;
    let mut found = named(origin, reached.locations, reached.project);
    let others = every_project(reached.locations).into_iter().filter(|project| project.root != reached.project.root);
    for project in others {
        let serving = readable_sessions(&project).known.into_iter();
        let serving = serving.filter(|session| session.clients.iter().any(|client| above.contains(client)));
        found.extend(serving.map(|session| session.id));
    }
    let mut all = before.to_vec();
    for session in found {
        if !all.contains(&session) && all.len() < MAX_OUTER {
            all.push(session);
        }
    }
    Some(all)
}

/// The sessions of other guarded projects that variables of the client, or of a process above it, name.
pub(crate) fn named(origin: &Origin, locations: &Locations, own: &Project) -> Vec<String> {
    let elsewhere = |session: &String| match Project::of_session(locations, session) {
        Ok(Some(project)) => project.root != own.root,
        Ok(None) => false,
        // It is kept, and may be of any project.
        Err(_) => true,
    };
    origin.sessions_named(&origin.processes()).into_iter().filter(elsewhere).collect()
}

/// Why a call that does more than read is refused in a session below these; `None` where no run in block mode is live in
/// any of them.
pub(crate) fn held(locations: &Locations, outer: &[String], event: &Event) -> Option<Problem> {
    if outer.is_empty() || !matches!(event.kind, EventKind::ToolCall { .. }) {
        return None;
    }
    if event.labels().is_some_and(|labels| only_reads(&labels)) {
        return None;
    }
    outer.iter().find_map(|session| {
        let root = strict_in(locations, session)?;
        let text = format!(
            "an agent started this client: it is below session `{session}` of `{root}`, where a run in block mode is \
             live, and its calls cannot be judged here by that run, so only reading is allowed"
        );
        let remedy = "do the work in the session of that project, or ask the user to start a client here themselves";
        Some(Problem::new(Code::SelfProtection, text).with_remedy(remedy))
    })
}

/// Whether a run in block mode is live in one of these sessions, or may be.
pub(crate) fn may_hold(locations: &Locations, outer: &[String]) -> bool {
    outer.iter().any(|session| strict_in(locations, session).is_some())
}

/// The root of the session's project, if block mode is live in the session, or may be.
fn strict_in(locations: &Locations, session: &str) -> Option<String> {
    let project = match Project::of_session(locations, session) {
        Ok(project) => project?,
        Err(_) => return Some("another project".to_owned()),
    };
    let last = read_last::<SessionSnapshot>(&FileStore, &project.session_journal(session));
    let strict = match last {
        Ok(last) => last.is_some_and(|last| is_strict(&State { session: last.state.session, ..State::default() })),
        Err(_) => true,
    };
    strict.then(|| project.root.display().to_string())
}
