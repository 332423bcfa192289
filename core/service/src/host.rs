//! The host's session: the session of the guarded client that started this process. A guard in a server and the
//! client's own guard so share one session (rules 4.3).
//!
//! A client can begin another session, with another id, while it runs. The project's journal records each start and end
//! of a session. So nothing is read again until that journal changes, and then only the sessions that it newly names.

use std::collections::BTreeMap;
use std::path::Path;

use crate::own_writes::OwnWrites;
use phasegate_runtime::processes::ancestors::{Process, own_ancestors};
use phasegate_runtime::project::Project;
use phasegate_runtime::runtime::Runtime;
use phasegate_runtime::sessions::snapshot::{Checkpoint, ProjectSnapshot, SessionSnapshot};
use phasegate_store::disk::mark::Mark;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

/// What is known of the sessions of a project and of the processes above this one.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// The ancestors of this process, nearest first; `None` before the first search.
    above: Option<Vec<Process>>,
    /// How the project's journal was when it was read last.
    mark: Option<Mark>,
    /// What was found of each session, by the name of its file.
    known: BTreeMap<String, Known>,
    /// The sessions that variables of the environment name; `None` before the first search.
    variables: Option<Vec<String>>,
    /// How often others had written to the project's journal when it was read last, as far as this process saw.
    foreign: u64,
}

#[derive(Debug)]
struct Known {
    /// What the project noted when it was looked at.
    checkpoint: Checkpoint,
    /// Whether the record that this was noted for was there.
    whole: bool,
    session: String,
    ended: bool,
    /// The distance to the nearest ancestor that served it.
    distance: Option<usize>,
}

impl Host {
    /// The current session of the nearest guarded client among this process's ancestors, or else the session that an
    /// environment variable names. `None` if it is not a session of this project.
    pub(crate) fn session(&mut self, runtime: &Runtime, project: &Project, ours: OwnWrites) -> Option<String> {
        self.look(project, ours);
        self.served(project).or_else(|| self.named(runtime, project))
    }

    fn look(&mut self, project: &Project, ours: OwnWrites) {
        let mark = project.journal().metadata().ok().map(|data| Mark::of(&data));
        let same = mark == self.mark || (mark == ours.mark && ours.foreign == self.foreign);
        if same && self.above.is_some() && self.known.values().all(|known| known.whole) {
            self.mark = mark;
            return;
        }
        self.foreign = ours.foreign;
        let shared = read_last::<ProjectSnapshot>(&FileStore, &project.journal()).ok().flatten().map(|last| last.state);
        // An unreadable journal names no host; the decision that needs it reports the problem.
        let checkpoints = shared.unwrap_or_default().sessions;
        let above = self.above.get_or_insert_with(own_ancestors);
        self.known.retain(|key, _| checkpoints.contains_key(key));
        for (key, checkpoint) in checkpoints {
            if self.known.get(&key).is_none_or(|known| known.checkpoint != checkpoint || !known.whole) {
                let found = known(&project.sessions().join(format!("{key}.journal")), checkpoint, above);
                self.known.insert(key, found);
            }
        }
        self.mark = mark;
    }

    /// The guarded session of this project that the environment names.
    fn named(&mut self, runtime: &Runtime, project: &Project) -> Option<String> {
        let set = || runtime.platforms.session_variables().into_iter().filter_map(|name| std::env::var(name).ok());
        let here = |session: &&String| {
            let root = Project::of_session(&runtime.locations, session);
            matches!(root, Ok(Some(found)) if found == *project)
        };
        self.variables.get_or_insert_with(|| set().collect()).iter().find(here).cloned()
    }

    /// Of several sessions of the same client the one that goes on counts, and of those the one last written to.
    fn served(&self, project: &Project) -> Option<String> {
        let nearest = self.known.values().filter_map(|known| known.distance).min()?;
        let mut found: Vec<_> = self.known.iter().filter(|(_, known)| known.distance == Some(nearest)).collect();
        if found.iter().any(|(_, known)| !known.ended) {
            found.retain(|(_, known)| !known.ended);
        }
        let written = |key: &str| {
            let data = project.sessions().join(format!("{key}.journal")).metadata();
            data.and_then(|data| data.modified()).ok()
        };
        match found.as_slice() {
            [(_, only)] => Some(only.session.clone()),
            several => several.iter().max_by_key(|(key, _)| written(key)).map(|(_, known)| known.session.clone()),
        }
    }
}

fn known(journal: &Path, checkpoint: Checkpoint, above: &[Process]) -> Known {
    let last = read_last::<SessionSnapshot>(&FileStore, journal).ok().flatten();
    // The project's record comes first; that of the session may still be on its way.
    let whole = last.as_ref().is_some_and(|last| last.seq > checkpoint.seq);
    let own = last.map(|last| last.state).unwrap_or_default();
    Known {
        whole,
        checkpoint,
        session: own.session.id,
        ended: own.session.ended,
        distance: above.iter().position(|process| own.clients.contains(process)),
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use phasegate_core::Event;
    use serde_json::{Value, json};

    use std::sync::Arc;

    use super::*;
    use crate::dispatcher::Dispatcher;
    use crate::session_cache::SessionCache;
    use phasegate_runtime::deadline::{Deadline, LIMIT};
    use phasegate_runtime::driver::Driver;
    use phasegate_runtime::scratch;
    use phasegate_runtime::sessions::snapshot::SessionChange;

    struct Place {
        _folder: tempfile::TempDir,
        runtime: Runtime,
        project: Project,
    }

    impl Place {
        fn new() -> Self {
            let skill = "skill: work\ndescription: Look.\nphases:\n  look:\n    allowed: [Read]\n";
            let (folder, runtime, project) = scratch::project(skill).unwrap();
            Self { _folder: folder, runtime, project }
        }

        fn give(&self, session: &str, client: Option<Process>, event: Value) {
            let store = self.runtime.store.as_ref();
            let opened = Driver::open(&self.runtime, store, self.project.clone(), session, &Deadline::new(LIMIT));
            let mut driver = opened.unwrap().unwrap();
            if let Some(client) = client {
                let mut clients = driver.loaded.own.snapshot.clients.clone();
                clients.push(client);
                driver.loaded.own.change(SessionChange::Clients(clients));
            }
            let _ = driver.decide(Event::from_value(event).unwrap()).unwrap();
        }
    }

    #[test]
    fn the_session_of_the_nearest_client_above_is_the_hosts_and_follows_it() {
        let place = Place::new();
        let mut host = Host::default();
        let mut asked = || host.session(&place.runtime, &place.project, OwnWrites::default());
        let parent = own_ancestors().first().copied().unwrap();
        let start = |source: &str| json!({"event": "session_start", "source": source});
        assert_eq!(asked(), None, "there is no journal yet");
        place.give("else", Some(Process(parent.0, parent.1 + 1, parent.2)), start("startup"));
        assert_eq!(asked(), None, "another process had that number");
        place.give("one", Some(parent), start("startup"));
        assert_eq!(asked().as_deref(), Some("one"));
        place.give("one", None, json!({"event": "session_end"}));
        assert_eq!(asked().as_deref(), Some("one"), "nothing else is served");
        place.give("two", Some(parent), start("clear"));
        assert_eq!(asked().as_deref(), Some("two"));
        place.give("two", None, json!({"event": "session_end"}));
        place.give("one", None, start("resume"));
        assert_eq!(asked().as_deref(), Some("one"));
    }

    #[test]
    fn what_the_guard_itself_writes_hides_no_host() {
        let place = Place::new();
        let cache = SessionCache::new(Arc::new(place.runtime.clone()), place.project.clone());
        let ours = cache.ours();
        let dispatcher = Dispatcher::new(cache, LIMIT);
        let own = |event: Value| {
            let slot = dispatcher.submit("own", Event::from_value(event).unwrap(), std::time::Duration::from_secs(5)).0;
            while !slot.is_answered() {
                std::thread::yield_now();
            }
        };
        let mut host = Host::default();
        let mut asked = || host.session(&place.runtime, &place.project, *ours.lock().unwrap());
        let parent = own_ancestors().first().copied().unwrap();
        let start = |source: &str| json!({"event": "session_start", "source": source});
        let many = || (0..40).for_each(|_| own(json!({"event": "stop"})));
        assert_eq!(asked(), None);
        own(start("startup"));
        assert_eq!(asked(), None);
        place.give("one", Some(parent), start("startup"));
        many();
        assert_eq!(asked().as_deref(), Some("one"), "it was reported before what the guard wrote");
        many();
        assert_eq!(asked().as_deref(), Some("one"));
        place.give("one", None, json!({"event": "session_end"}));
        own(start("clear"));
        place.give("two", Some(parent), start("clear"));
        assert_eq!(asked().as_deref(), Some("two"));
        many();
        assert_eq!(asked().as_deref(), Some("two"));
    }
}
