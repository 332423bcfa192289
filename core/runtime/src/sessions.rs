//! Sessions as a person asks about them: which there are, and where each stands.

pub mod redact;
pub mod snapshot;
pub mod index;
pub mod loaded;
pub mod integrity;
pub(crate) mod live;
pub mod lineage;
pub(crate) mod outer_sessions;
pub mod status;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use phasegate_adapter::{Problem, process_of};
use phasegate_core::State;
use phasegate_core::policy::Mode;
use phasegate_core::state::pins::Pins;
use phasegate_core::state::{OpenCall, Status};
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::fingerprint;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Last, read_last};

use crate::processes::ancestors::Process;
use crate::project::Project;
use crate::sessions::snapshot::{NotKept, ProjectSnapshot, SessionSnapshot};

/// A call that stays open longer than this no longer counts against a person's command.
pub(crate) const OPEN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// One that was started in the background counts for so long: nothing may ever tell of its end, and a person who lets a
/// server run wants to go on. What a longer one does shows in its ancestors and its environment.
const LAUNCHED_FOR: Duration = Duration::from_secs(60 * 60);
/// A damaged journal counts against a person's command for so long after its last change: a program of the agent may
/// have damaged it for a moment, to hide its own open call.
const DAMAGED_FOR: Duration = Duration::from_secs(60 * 60);
/// A session whose journal was not written for longer than this no longer holds the project to its run's mode; it does
/// again with its next event.
pub(crate) const LIVE_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// One session, as its journal shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// The platform's id.
    pub id: String,
    /// How many records its journal has.
    pub records: u64,
    /// When its journal was last written; where a program set that time, when it did.
    pub active: SystemTime,
    /// The version of its policy; empty if it has none.
    pub policy: String,
    /// The digest of the stored policy.
    pub policy_digest: String,
    /// The client's processes that have served it, those that have ended perhaps left out; the newest last.
    pub clients: Vec<Process>,
    /// Those of them that were seen to write the session's messages themselves.
    pub senders: Vec<Process>,
    /// The guards of servers and proxies that serve it, or did and left a call open.
    pub guards: Vec<Process>,
    /// Who is behind it, where an adapter says so.
    pub principal: Option<String>,
    /// The last calls of which something was not kept.
    pub not_kept: Vec<NotKept>,
    /// How many records of the project's journal it saw on the disk for good.
    pub saw: u64,
    /// The engine's state, the project's half included.
    pub state: State,
}

/// A call that can run programs and has not ended, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenProgram {
    /// The tool's canonical name.
    pub tool: String,
    /// The session it is open in.
    pub session: String,
    /// How long it has been open.
    pub age: Duration,
    /// Whether it was started in the background.
    pub launched: bool,
    /// Whether a person was asked about it, so that it may not run at all.
    pub asked: bool,
    /// The root of its project, where the command that it counts against concerns every project.
    pub project: Option<PathBuf>,
}

impl SessionInfo {
    /// Whether a guard of a server or a proxy serves the session now.
    pub(crate) fn is_served(&self) -> bool {
        self.guards.iter().any(|guard| guard.alive())
    }

    /// The call that can run programs and has been open longest.
    pub fn open_program(&self) -> Option<OpenProgram> {
        self.open_programs().max_by_key(|call| call.age)
    }

    /// Whether a process that serves the session may run.
    pub(crate) fn is_at_work(&self) -> bool {
        self.guards.iter().chain(&self.clients).any(|process| !process.gone())
    }

    /// The skills of its live runs in block mode.
    pub(crate) fn strict_skills(&self) -> impl Iterator<Item = &str> {
        let live = self.state.session.runs.iter().filter(|run| run.status == Status::Active && run.mode >= Mode::Block);
        live.map(|run| run.skill.as_str())
    }

    /// Whether a skill is in force in block mode in this session alone, and its run is still to begin.
    pub(crate) fn expects_a_strict_run(&self) -> bool {
        let own = &self.state.session;
        let is_live = |skill: &str| own.runs.iter().any(|run| run.status == Status::Active && run.skill == skill);
        own.in_force.iter().any(|(skill, mode)| *mode == Some(Mode::Block) && !is_live(skill))
    }

    /// The open calls that can run programs: those not older than a day, or an hour where they were started in the
    /// background. A call of a relay that is gone is over.
    pub fn open_programs(&self) -> impl Iterator<Item = OpenProgram> {
        let counts = |call: &&Arc<OpenCall>| call.may_execute && !is_abandoned(call, &self.guards);
        let programs = self.state.session.calls.iter().filter(counts);
        let open = programs.map(|call| OpenProgram {
            tool: call.tool.clone(),
            session: self.id.clone(),
            age: since(call.since.map_or(self.active, moment)),
            launched: call.launched,
            asked: call.asked,
            project: None,
        });
        open.filter(|call| call.age < if call.launched { LAUNCHED_FOR } else { OPEN_FOR })
    }
}

/// Whether the guard in this process let the call through.
pub(crate) fn is_of(call: &OpenCall, guard: Process) -> bool {
    call.id.as_deref().and_then(process_of) == Some(guard.0)
}

/// Whether the guard that let the call through is known to be gone, so that nobody tells of the call's end.
fn is_abandoned(call: &OpenCall, guards: &[Process]) -> bool {
    let mut own = guards.iter().filter(|guard| is_of(call, **guard)).peekable();
    own.peek().is_some() && own.all(|guard| guard.gone())
}

/// The calls of other sessions whose end facts of rules await, and whose guard is known to be gone, by their names.
pub(crate) fn gone_calls(project: &Project, state: &State) -> Vec<String> {
    let is_gone = |session: &str, number: u64| {
        let last = read_last::<SessionSnapshot>(&FileStore, &project.session_journal(session));
        let Ok(Some(last)) = last else { return false };
        let call = last.state.session.calls.iter().find(|call| call.number == number);
        call.is_some_and(|call| is_abandoned(call, &last.state.guards))
    };
    let others = state.project.facts.unended().filter(|(session, _)| *session != state.session.id);
    let gone: BTreeSet<_> = others.filter(|(session, number)| is_gone(session, *number)).collect();
    gone.into_iter().map(|(session, number)| format!("{session}:{number}")).collect()
}

pub(crate) fn moment(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default())
}

pub(crate) fn since(moment: SystemTime) -> Duration {
    disk().now().duration_since(moment).unwrap_or_default()
}

/// The sessions of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sessions {
    /// Those whose journals can be read, the most recently active first.
    pub known: Vec<SessionInfo>,
    /// Journals that cannot be read, and why.
    pub damaged: Vec<(PathBuf, Problem)>,
    /// How many messages could not be read and named no session.
    pub unread: u64,
    /// Journals without a record, and those that were looked for and are not there.
    pub(crate) empty: Vec<PathBuf>,
    /// Journals of which no record names a session.
    pub(crate) nameless: Vec<PathBuf>,
    /// A journal that may hide an open call: it was damaged a short time ago, or is shorter than its checkpoint.
    pub(crate) hidden: Option<PathBuf>,
}

/// The sessions of a project. Journals are read without their locks.
///
/// # Errors
///
/// `state-unreadable`, `state-version`: the project's own journal is damaged or newer than this version.
pub fn sessions(project: &Project) -> Result<Sessions, Problem> {
    Ok(all_sessions(project, &kept(project)?))
}

/// The tools of servers as relays first saw them in the project.
///
/// # Errors
///
/// As for [`sessions`].
pub fn pins(project: &Project) -> Result<Pins, Problem> {
    let last = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?;
    Ok(last.map(|last| last.state.project.servers.as_ref().clone()).unwrap_or_default())
}

/// What the project's journal keeps.
pub(crate) fn kept(project: &Project) -> Result<ProjectSnapshot, Problem> {
    Ok(read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state).unwrap_or_default())
}

/// As [`sessions`], of a project whose journal was read.
pub(crate) fn all_sessions(project: &Project, shared: &ProjectSnapshot) -> Sessions {
    read(project, shared, project.session_journals(), &|_| true)
}

/// Reads these journals of sessions. Those that were cut off are looked for among the sessions that `checked` names.
pub(crate) fn read(
    project: &Project,
    shared: &ProjectSnapshot,
    paths: Vec<PathBuf>,
    checked: &dyn Fn(&str) -> bool,
) -> Sessions {
    let mut found = Sessions::default();
    for path in paths {
        match read_last(&FileStore, &path).map(|last| last.map(|last| info(last, shared))) {
            Ok(Some(session)) if session.id.is_empty() => {
                found.unread += session.records;
                found.nameless.push(path);
            }
            Ok(Some(session)) => found.known.push(session),
            Ok(None) => found.empty.push(path),
            Err(error) => {
                if since(changed(&path)) < DAMAGED_FOR {
                    found.hidden = Some(path.clone());
                }
                found.damaged.push((path, error.into()));
            }
        }
    }
    if let Some(path) = cut_off(project, shared, &found, checked) {
        found.hidden = Some(path);
    }
    found.sort();
    found
}

impl Sessions {
    /// Those alone whose journal changed within this time.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.known.retain(|session| since(session.active) < limit);
        self.damaged.retain(|(path, _)| since(changed(path)) < limit);
        self
    }

    /// Puts them in their order.
    pub(crate) fn sort(&mut self) {
        self.known.sort_by(|a, b| b.active.cmp(&a.active).then_with(|| a.id.cmp(&b.id)));
        self.damaged.sort_by(|a, b| a.0.cmp(&b.0));
    }
}

/// A session's journal that is gone, or shorter than a checkpoint of the last day says.
fn cut_off(
    project: &Project,
    shared: &ProjectSnapshot,
    found: &Sessions,
    checked: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    let is_cut = |path: &Path, seq: u64| {
        let known = found.known.iter().find(|session| project.session_journal(&session.id) == path);
        let is_empty = || !path.exists() || found.empty.iter().any(|other| other == path);
        known.map_or_else(is_empty, |session| session.records < seq)
    };
    let recent = shared.sessions.iter().filter(|(name, at)| checked(name) && since(moment(at.time)) < OPEN_FOR);
    recent
        .map(|(name, at)| (project.session_file(name), at.seq))
        .find_map(|(path, seq)| is_cut(&path, seq).then_some(path))
}

/// Whether a run in block mode is live, or begins with the next event.
pub(crate) fn is_strict(state: &State) -> bool {
    let in_force =
        || state.project.in_force.values().copied().chain(state.session.in_force.values().copied().flatten());
    state.live_runs().map(|run| run.mode).chain(in_force()).any(|mode| mode == Mode::Block)
}

/// When a file's content, name or permissions last changed. Programs cannot set this time.
pub(crate) fn changed(path: &Path) -> SystemTime {
    path.symlink_metadata().map_or(SystemTime::UNIX_EPOCH, |data| fingerprint::changed(&data))
}

fn info(last: Last<SessionSnapshot>, shared: &ProjectSnapshot) -> SessionInfo {
    let own = last.state;
    SessionInfo {
        id: own.session.id.clone(),
        records: last.seq,
        active: moment(last.time),
        policy: last.policy,
        policy_digest: own.policy_digest,
        clients: own.clients,
        senders: own.senders,
        guards: own.guards,
        principal: own.principal,
        not_kept: own.not_kept,
        saw: own.project,
        state: State { session: own.session, project: shared.project.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn with_calls(calls: Value) -> SessionInfo {
        let mut state = State::default();
        state.session.calls = serde_json::from_value(calls).unwrap();
        SessionInfo {
            id: "s".to_string(),
            records: 1,
            active: SystemTime::now(),
            policy: String::new(),
            policy_digest: String::new(),
            clients: Vec::new(),
            senders: Vec::new(),
            guards: Vec::new(),
            principal: None,
            not_kept: Vec::new(),
            saw: 0,
            state,
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_call_is_over_only_where_its_relay_is_known_to_be_gone() {
        let own = crate::processes::ancestors::own_process().unwrap();
        let call = json!([{"tool": "run", "input": "", "may_execute": true, "id": format!("call-{}-1-1", own.0)}]);
        let open = |guard: Process| {
            let session = SessionInfo { guards: vec![guard], ..with_calls(call.clone()) };
            (session.open_program().is_some(), session.is_at_work())
        };
        assert_eq!(open(own), (true, true));
        assert_eq!(open(Process(own.0, own.1 + 1, own.2)), (false, false));
        assert_eq!(open(Process(own.0, own.1 + 1, own.2 + 1)), (true, true), "nobody here sees another namespace");
        assert_eq!(open(Process(own.0, own.1 + 1, 0)), (true, true), "an earlier version did not note the namespace");
    }

    #[test]
    fn a_calls_age_is_its_own_and_not_that_of_the_journals_last_record() {
        let hours = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 60 * 60);
        let milliseconds =
            |moment: SystemTime| moment.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64;
        let call = |tool: &str, launched: bool, ago: u64| json!({"tool": tool, "input": "", "may_execute": true, "launched": launched, "since": milliseconds(hours(ago))});
        let open = |calls: Value, written: u64| {
            let session = SessionInfo { active: hours(written), ..with_calls(calls) };
            session.open_program().map(|call| call.tool)
        };
        assert_eq!(open(json!([call("Bash", false, 25)]), 0), None, "a call that is forgotten locks nobody out");
        assert_eq!(open(json!([call("Bash", true, 2)]), 0), None, "nor does a server in the background");
        let calls = json!([call("Bash", false, 25), call("Monitor", false, 23), call("Task", true, 0)]);
        assert_eq!(open(calls, 0).unwrap(), "Monitor");
        assert_eq!(open(json!([call("Bash", true, 0)]), 0).unwrap(), "Bash");
        assert_eq!(open(json!([call("Bash", false, 23)]), 30).unwrap(), "Bash");
        assert_eq!(open(json!([{"tool": "Read", "input": ""}]), 0), None);
    }
}
