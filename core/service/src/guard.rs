//! The guard that adapters in a long-running process are handed: the runtime, bound to one project.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem, Standing};
use phasegate_core::events::event::By;
use phasegate_core::shell::safety::REGISTER;
use phasegate_core::{Code, Decision, Event, EventKind, Outcome};

use crate::dispatcher::Dispatcher;
use crate::host::Host;
use crate::own_writes::OwnWrites;
use crate::patience::Patience;
use crate::session_cache::SessionCache;
use phasegate_runtime::deadline::limit_from_environment;
use phasegate_runtime::processes::ancestors::own_process;
use phasegate_runtime::project::Project;
use phasegate_runtime::runtime::Runtime;
use phasegate_runtime::sessions::snapshot::SessionSnapshot;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

/// A runtime bound to one project.
#[derive(Clone, Debug)]
pub struct ProjectGuard {
    /// Finds configs and state, and decides by them.
    runtime: Arc<Runtime>,
    /// The project whose configs and journals are meant, whatever folder the process is in.
    project: Project,
    dispatcher: Arc<Dispatcher<SessionCache>>,
    host: Arc<Mutex<Host>>,
    ours: Arc<Mutex<OwnWrites>>,
    limit: Duration,
    patience: Arc<Patience>,
}

impl ProjectGuard {
    /// The guard of this project.
    pub fn new(runtime: Runtime, project: Project) -> Self {
        let runtime = Arc::new(runtime);
        let cache = SessionCache::new(Arc::clone(&runtime), project.clone()).serving(own_process()).lazy();
        let ours = cache.ours();
        let limit = limit_from_environment();
        let dispatcher = Arc::new(Dispatcher::new(cache, limit));
        Self { runtime, project, dispatcher, host: Arc::default(), ours, limit, patience: Arc::default() }
    }

    /// Whether an agent's registration in the session of a guarded client came from a program below that client: the
    /// client's own guard let no call of the main agent through that asks for it.
    fn is_a_programs(&self, session: &str, event: &Event) -> bool {
        let EventKind::Command { by: By::Agent, name, args } = &event.kind else { return false };
        name == REGISTER
            && self.host_session().as_deref() == Some(session)
            && !self.dispatcher.with(|cache| cache.has_call(session, REGISTER, args))
    }
}

#[async_trait]
impl Guard for ProjectGuard {
    /// Decides one event and records it. One that need not wait for a lock or for the disk is decided on the thread that
    /// asks first; the others wait for a thread of the guard's own, for half of the deadline for locks and for all of it
    /// in all; after a hang for a quarter of a second only. Nothing guards the project: `policy-missing`, or `self-protection` where the call would change what guards
    /// another.
    async fn handle(&self, session: &str, event: Event) -> Result<Outcome, Problem> {
        if self.is_a_programs(session, &event) {
            let what = "no call of it by the main agent is open in the client's session, so a program asked";
            return Err(Problem::new(Code::NotRegistered, format!("`{REGISTER}`: {what}")));
        }
        let limit = self.patience.limit(self.limit);
        let answer = self.dispatcher.submit(session, event, limit).await;
        self.patience.learn(limit, self.limit, answer)
    }

    async fn probe(&self, session: &str, events: Vec<Event>) -> Result<Vec<Decision>, Problem> {
        // What was decided before is written first.
        self.dispatcher.with(|_| ());
        let all = events.len();
        let answers = self.runtime.probe(&self.project, session, events)?;
        Ok(answers.unwrap_or_else(|| vec![Decision::allow(); all]))
    }

    async fn unguarded(&self) -> bool {
        matches!(self.runtime.probe(&self.project, "", Vec::new()), Ok(None))
    }

    async fn decided(&self, session: &str, call: &Event, ids: Vec<String>) -> bool {
        !ids.is_empty() && self.dispatcher.with(|cache| cache.decided(session, call, &ids))
    }

    fn standing(&self, session: &str) -> Standing {
        // What was decided before is written first.
        self.dispatcher.with(|_| ());
        match read_last::<SessionSnapshot>(&FileStore, &self.project.session_journal(session)) {
            Ok(None) => Standing::Unknown,
            Ok(Some(last)) if last.state.session.ended => Standing::Ended,
            Ok(Some(_)) | Err(_) => Standing::Open,
        }
    }

    fn host_session(&self) -> Option<String> {
        let ours = *self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        host.session(&self.runtime, &self.project, ours)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Poll, Wake, Waker};

    use phasegate_core::Change;
    use phasegate_core::answers::decision::Effect;
    use serde_json::json;

    use super::*;
    use phasegate_runtime::locations::Locations;

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

    fn give(guard: &dyn Guard, event: serde_json::Value) -> Result<Outcome, Problem> {
        block_on(guard.handle("s", Event::from_value(event).unwrap()))
    }

    #[test]
    fn a_guard_behind_the_trait_decides_and_remembers() {
        let folder = tempfile::tempdir().unwrap();
        let guard = guarded(folder.path());
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
        let proved =
            seen.changes.iter().filter(|change| matches!(change, Change::Proved(proved) if proved.atoms.len() == 1));
        assert_eq!(proved.count(), 1);
        assert_eq!(decided("3", "Edit").effect, Effect::Allow);
    }

    fn guarded(folder: &Path) -> ProjectGuard {
        std::fs::create_dir_all(folder.join("project/.phasegate/skills")).unwrap();
        std::fs::write(folder.join("project/.phasegate/skills/work.yaml"), SKILL).unwrap();
        guard(folder)
    }

    #[test]
    fn a_call_that_the_hosts_guard_let_through_is_told_once_with_its_id_tool_and_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let (host, guard) = (guarded(folder.path()), guarded(folder.path()));
        for event in [
            json!({"event": "session_start", "source": "startup"}),
            json!({"event": "skill", "name": "work", "by": "human"}),
        ] {
            let _ = give(&host, event).unwrap();
        }
        let call = |id: &str, tool: &str, input: serde_json::Value| json!({"event": "tool_call", "id": id, "tool": tool, "server": "lsp", "labels": ["read"], "input": input});
        let decided = |tool: &str, input: serde_json::Value, ids: &[&str]| {
            let event = Event::from_value(call("own", tool, input)).unwrap();
            block_on(guard.decided("s", &event, ids.iter().map(ToString::to_string).collect()))
        };
        assert!(!decided("Read", json!({"n": 1}), &["host"]), "nothing is open");
        let long = "x".repeat(10_000);
        let input = json!({"n": 1, "text": long});
        assert!(give(&host, call("host", "look_up", input.clone())).unwrap().decision.unwrap().lets_through());
        assert!(!decided("look_up", json!({"n": 2, "text": long}), &["host"]), "other arguments");
        assert!(!decided("apply", input.clone(), &["host"]), "another tool");
        assert!(!decided("look_up", input.clone(), &["else"]), "another id");
        assert!(decided("look_up", input.clone(), &["else", "host"]));
        assert!(!decided("look_up", input.clone(), &["host"]), "it was reported");
        let _ = give(&host, json!({"event": "tool_result", "id": "host", "outcome": "ok"})).unwrap();
        assert!(!decided("look_up", input, &["host"]), "it is over");
        assert!(!block_on(guard.decided(
            "none",
            &Event::from_value(json!({"event": "idle"})).unwrap(),
            vec!["a".into()]
        )));
        assert!(!guard.project.session_journal("none").exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_registration_in_a_clients_session_comes_from_a_call_of_its_main_agent() {
        use phasegate_runtime::deadline::{Deadline, LIMIT};
        use phasegate_runtime::driver::Driver;
        use phasegate_runtime::processes::ancestors::own_ancestors;
        use phasegate_runtime::sessions::snapshot::SessionChange;

        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.phasegate")).unwrap();
        std::fs::write(folder.path().join("project/.phasegate/config.yaml"), "safety: {programs: [mytool]}\n").unwrap();
        let args = json!({"tool": "mytool", "commands": {"mytool show *": "READ"}});
        let asked = |guard: &ProjectGuard, args: &serde_json::Value| {
            give(guard, json!({"event": "command", "by": "agent", "name": "plan_skill_safety", "args": args}))
        };
        let alone = guard(folder.path());
        let _ = give(&alone, json!({"event": "session_start", "source": "startup"})).unwrap();
        assert!(asked(&alone, &args).is_ok(), "the session is no client's: nobody else decides its calls");
        let (runtime, project) = (&alone.runtime, alone.project.clone());
        alone.dispatcher.with(SessionCache::forget);
        let opened = Driver::open(runtime, runtime.store.as_ref(), project, "s", &Deadline::new(LIMIT));
        let mut driver = opened.unwrap().unwrap();
        driver.loaded.own.change(SessionChange::Clients(own_ancestors().into_iter().take(1).collect()));
        let _ = driver.decide(Event::from_value(json!({"event": "idle"})).unwrap()).unwrap();
        drop(driver);

        let guard = guard(folder.path());
        let register = |args: &serde_json::Value| asked(&guard, args);
        let call = |id: &str, tool: &str, input: &serde_json::Value| {
            let server = (tool != "Bash").then_some("phasegate");
            let event = json!({"event": "tool_call", "id": id, "tool": tool, "server": server, "input": input});
            assert!(give(&guard, event).unwrap().decision.unwrap().lets_through());
        };

        call("1", "Bash", &json!({"command": "python3 register.py"}));
        assert_eq!(register(&args).unwrap_err().code, Code::NotRegistered, "a program asks");
        call("2", "plan_skill_safety", &args);
        let other = json!({"tool": "mytool", "commands": {"mytool *": "READ"}});
        assert_eq!(register(&other).unwrap_err().code, Code::NotRegistered, "other patterns");
        assert!(register(&args).is_ok(), "the main agent called the tool");
    }

    #[test]
    fn clients_of_one_server_never_join_each_others_runs() {
        let folder = tempfile::tempdir().unwrap();
        let guard = guarded(folder.path());
        let as_principal = |session: &str, name: Option<&str>, event: serde_json::Value| {
            let mut event = Event::from_value(event).unwrap();
            event.principal = name.map(ToString::to_string);
            block_on(guard.handle(session, event)).unwrap().runs.map_or(0, |runs| runs.len())
        };
        let start = || json!({"event": "session_start", "source": "startup"});
        as_principal("a", Some("one"), start());
        as_principal("a", Some("one"), json!({"event": "skill", "name": "work", "by": "human"}));
        let call = json!({"event": "tool_call", "id": "1", "tool": "run", "server": "x", "input": {}});
        as_principal("a", Some("one"), call.clone());
        assert_eq!(as_principal("b", Some("two"), start()), 0, "a call of another client is open");
        assert_eq!(as_principal("c", Some("one"), call), 0, "it was not seen to start");
        assert_eq!(as_principal("d", None, start()), 1, "a session of this machine may come from that call");
    }

    #[test]
    fn a_project_that_was_guarded_stays_so_for_a_guard_that_stays() {
        let folder = tempfile::tempdir().unwrap();
        let guard = guarded(folder.path());
        let call = json!({"event": "tool_call", "tool": "Edit", "input": {}});
        assert!(give(&guard, json!({"event": "session_start", "source": "startup"})).is_ok());
        std::fs::remove_dir_all(folder.path().join("state")).unwrap();
        std::fs::remove_dir_all(folder.path().join("project/.phasegate")).unwrap();
        assert_eq!(give(&guard, call).unwrap_err().code, Code::PolicyMissing);
        assert!(!block_on(guard.unguarded()));
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
