//! The guard that adapters in a long-running process are handed: the runtime, bound to one project.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem};
use phasegate_core::{Decision, Event, Step};

use crate::deadline::limit_from_environment;
use crate::host::Host;
use crate::project::Project;
use crate::resident::Resident;
use crate::resident::desk::Desk;
use crate::runtime::Runtime;

/// A runtime bound to one project.
#[derive(Clone, Debug)]
pub struct ProjectGuard {
    /// Finds configs and state, and decides by them.
    runtime: Arc<Runtime>,
    /// The project whose configs and journals are meant, whatever folder the process is in.
    project: Project,
    desk: Arc<Desk>,
    host: Arc<Mutex<Host>>,
}

impl ProjectGuard {
    /// The guard of this project.
    #[must_use]
    pub fn new(runtime: Runtime, project: Project) -> Self {
        let runtime = Arc::new(runtime);
        let resident = Resident::new(Arc::clone(&runtime), project.clone());
        let desk = Arc::new(Desk::new(resident, limit_from_environment()));
        Self { runtime, project, desk, host: Arc::default() }
    }
}

#[async_trait]
impl Guard for ProjectGuard {
    /// Decides one event and records it. One that need not wait for a lock or for the disk is decided on the thread that
    /// asks first; the others wait for a thread of the guard's own, for half of the deadline for locks and for all of it
    /// in all. Nothing guards the project: `policy-missing`, or `self-protection` where the call would change what guards
    /// another.
    async fn handle(&self, session: &str, event: Event) -> Result<Step, Problem> {
        self.desk.hand_in(session, event).await
    }

    async fn probe(&self, session: &str, events: Vec<Event>) -> Result<Vec<Decision>, Problem> {
        let all = events.len();
        let answers = self.runtime.probe(&self.project, session, events)?;
        Ok(answers.unwrap_or_else(|| vec![Decision::allow(); all]))
    }

    async fn unguarded(&self) -> bool {
        matches!(self.runtime.probe(&self.project, "", Vec::new()), Ok(None))
    }

    fn host_session(&self) -> Option<String> {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        host.session(&self.runtime, &self.project)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Poll, Wake, Waker};

    use phasegate_core::Code;
    use phasegate_core::decision::Effect;
    use serde_json::json;

    use super::*;
    use crate::locations::Locations;

    const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nphases:\n  look:\n    allowed: [Read]\n    \
                         forbidden: [Edit]\n    done_when: { ok: Read }\n  change:\n    allowed: [Edit]\n";

    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(value) => return value,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    fn guard(folder: &Path) -> ProjectGuard {
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| folder.join(name));
        let locations = Locations { state, user, machine, home };
        let root = folder.join("project");
        std::fs::create_dir_all(&root).unwrap();
        let project = Project::find(&locations, &root);
        ProjectGuard::new(Runtime::new(locations, []), project)
    }

    fn give(guard: &dyn Guard, event: serde_json::Value) -> Result<Step, Problem> {
        block_on(guard.handle("s", Event::from_value(event).unwrap()))
    }

    #[test]
    fn a_guard_behind_the_trait_decides_and_remembers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.phasegate/skills")).unwrap();
        std::fs::write(folder.path().join("project/.phasegate/skills/work.yaml"), SKILL).unwrap();
        let guard = guard(folder.path());
        let call = |id: &str, tool: &str| json!({"event": "tool_call", "id": id, "tool": tool, "input": {}});
        let decided = |id: &str, tool: &str| give(&guard, call(id, tool)).unwrap().decision.unwrap();

        for event in [
            json!({"event": "session_start", "source": "startup"}),
            json!({"event": "skill", "name": "work", "by": "human"}),
        ] {
            assert_eq!(give(&guard, event).unwrap().decision, None);
        }
        let early = decided("1", "Edit");
        assert_eq!((early.effect, early.code), (Effect::Deny, Some(Code::NotDone)));
        let calls = ["Edit", "Read"].map(|tool| Event::from_value(call("p", tool)).unwrap());
        let before = std::fs::metadata(guard.project.session_journal("s")).unwrap().len();
        let probed = block_on(guard.probe("s", calls.to_vec())).unwrap();
        assert_eq!(probed.iter().map(|found| found.effect).collect::<Vec<_>>(), [Effect::Deny, Effect::Allow]);
        assert_eq!(probed[0], early);
        assert_eq!(std::fs::metadata(guard.project.session_journal("s")).unwrap().len(), before);
        assert_eq!(decided("2", "Read").effect, Effect::Allow);
        assert!(!block_on(guard.unguarded()));
        let seen = give(&guard, json!({"event": "tool_result", "id": "2", "outcome": "ok"})).unwrap();
        assert_eq!(seen.state.session.runs[0].evidence.len(), 1);
        assert_eq!(decided("3", "Edit").effect, Effect::Allow);
    }

    #[test]
    fn a_project_that_nothing_guards_is_a_problem_for_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        let guard = guard(folder.path());
        let call = json!({"event": "tool_call", "tool": "Edit", "input": {}});
        let problem = give(&guard, call.clone()).unwrap_err();
        assert_eq!(problem.code, Code::PolicyMissing);
        assert!(block_on(guard.unguarded()));
        let probed = block_on(guard.probe("s", vec![Event::from_value(call).unwrap()])).unwrap();
        assert_eq!(probed, [Decision::allow()]);
        assert!(!folder.path().join("state").exists());
    }
}
