//! Finds the journals of a project that cannot be used, and what can be read of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_core::State;
use phasegate_core::state::{Run, Status};
use phasegate_store::error::StoreErrorKind;
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::Scan;
use phasegate_store::state::JournalState;

use crate::project::{Project, kept_root, kept_sessions, session_key};
use crate::runtime::Runtime;
use crate::sessions::integrity;
use crate::sessions::snapshot::{Checkpoint, ProjectSnapshot, SessionSnapshot};

/// A journal that cannot be used, and its beginning, which can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage<S> {
    /// The journal.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
    /// How many of its records can be read.
    pub readable: u64,
    /// The version of the policy in the last of them; empty if there is none.
    pub(super) policy: String,
    /// The state after the last of them.
    pub(super) state: S,
}

/// A session whose journal cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct DamagedSession {
    /// The platform's id; `None` where nothing says it any more.
    pub id: Option<String>,
    /// The name that stands for the session.
    pub key: String,
    /// How many records the journal had, as far as the project knows.
    pub known: u64,
    /// The journal.
    pub damage: Damage<SessionSnapshot>,
}

impl DamagedSession {
    /// The live runs, as far as the journal can be read.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.damage.state.session.runs.iter().filter(|run| run.status == Status::Active)
    }
}

/// What is damaged of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Damages {
    /// The project's own journal.
    pub project: Option<Damage<ProjectSnapshot>>,
    /// The sessions, by the names that stand for them.
    pub sessions: Vec<DamagedSession>,
    /// How far the journals of the other sessions have come.
    pub(super) whole: BTreeMap<String, Checkpoint>,
    /// How many records of the project's journal a session saw at most.
    pub(super) seen: u64,
}

impl Damages {
    /// Whether the readable parts show a live run.
    pub fn shows_runs(&self) -> bool {
        let of_project = self.project.iter().flat_map(|damage| &damage.state.project.runs);
        let live = { of_project }.any(|run| run.status == Status::Active);
        live || self.sessions.iter().any(|session| session.runs().next().is_some())
    }

    /// Whether nothing is damaged.
    pub fn is_empty(&self) -> bool {
        self.project.is_none() && self.sessions.is_empty()
    }
}

/// A journal, as far as it can be read.
struct Read<S> {
    seq: u64,
    head: String,
    policy: String,
    time: i64,
    /// How many records of the project's journal its records say that there were.
    saw: u64,
    state: S,
    problem: Option<Problem>,
}

/// Looks at every journal of the project. `named` is the id of a session that the person names.
pub(super) fn find(runtime: &Runtime, project: &Project, named: Option<&str>) -> Damages {
    let locations = &runtime.locations;
    let shared = read::<ProjectSnapshot>(&project.journal());
    let mut found = Damages::default();
    let ids = ids(project, named);
    let rooted: BTreeSet<String> = kept_sessions(locations, project).into_iter().collect();
    let noted = shared.state.sessions.iter().filter(|(_, at)| at.seq > 0).map(|(key, _)| key.clone());
    let stem = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_string());
    let journals: Vec<String> = project.session_journals().iter().filter_map(stem).collect();
    let has_sessions = !journals.is_empty();
    for key in journals.into_iter().chain(noted).chain(rooted.iter().cloned()).collect::<BTreeSet<_>>() {
        let path = project.sessions().join(format!("{key}.journal"));
        let mut own = read::<SessionSnapshot>(&path);
        found.seen = found.seen.max(own.state.project).max(own.saw);
        let id = Some(own.state.session.id.clone()).filter(|id| !id.is_empty()).or_else(|| ids.get(&key).cloned());
        let checkpoint = shared.state.sessions.get(&key);
        let unrooted = || id.as_deref().and_then(|id| kept_root(locations, id).err());
        let without_policy = forget_policy(runtime, &mut own);
        match wrong(&own, id.as_deref(), checkpoint, rooted.contains(&key)).or(without_policy).or_else(unrooted) {
            Some(problem) => {
                let Read { seq: readable, policy, state, .. } = own;
                let known = checkpoint.map_or(0, |at| at.seq);
                found.sessions.push(DamagedSession {
                    id,
                    key,
                    known,
                    damage: Damage { path, problem, readable, policy, state },
                });
            }
            None => {
                found.whole.insert(key, Checkpoint { seq: own.seq, head: own.head, time: own.time });
            }
        }
    }
    let path = project.journal();
    let memory = project.remembered().ok().flatten();
    found.seen = found.seen.max(memory.map_or(0, |memory| memory.records));
    let lost = || {
        let remembered = memory.is_some_and(|memory| memory.sessions);
        let shorter = shared.state.base + shared.seq < found.seen;
        (shorter || shared.seq == 0 && (has_sessions || remembered)).then(|| integrity::project_gone(project))
    };
    if let Some(problem) = shared.problem.clone().or_else(lost) {
        let Read { seq: readable, policy, state, .. } = shared;
        found.project = Some(Damage { path, problem, readable, policy, state });
    }
    found
}

/// What is wrong with a session's journal.
fn wrong(
    own: &Read<SessionSnapshot>,
    id: Option<&str>,
    checkpoint: Option<&Checkpoint>,
    rooted: bool,
) -> Option<Problem> {
    let id = id.unwrap_or_default();
    if own.problem.is_some() {
        return own.problem.clone();
    }
    if own.state.lost {
        return Some(integrity::lost(id));
    }
    match checkpoint {
        Some(at) => integrity::compared(id, own.seq, &own.head, at).err(),
        None if own.seq == 0 && rooted => Some(integrity::session_gone(id)),
        None => None,
    }
}

/// Forgets a policy that cannot be loaded: the session goes on by the configs of now. What is wrong with it.
fn forget_policy(runtime: &Runtime, own: &mut Read<SessionSnapshot>) -> Option<Problem> {
    if own.policy.is_empty() {
        return None;
    }
    let state = State { session: own.state.session.clone(), ..State::default() };
    let problem = runtime.policies.load(&own.policy, &own.state.policy_digest, &state).err()?;
    own.policy.clear();
    own.state.policy_digest.clear();
    Some(problem)
}

fn read<S: JournalState>(path: &Path) -> Read<S> {
    let mut found = Read {
        seq: 0,
        head: String::new(),
        policy: String::new(),
        time: 0,
        saw: 0,
        state: S::default(),
        problem: None,
    };
    let mut scan = match Scan::<S>::open(&FileStore, path) {
        Ok(scan) => scan,
        Err(error) => {
            found.problem = (error.kind != StoreErrorKind::Missing).then(|| error.into());
            return found;
        }
    };
    // The state of a record that does not fit is not the one before it.
    let mut state = S::default();
    while let Some(next) = scan.next() {
        match next {
            Ok(record) => {
                (found.seq, found.head, found.time) = (record.seq, scan.head(), record.entry.time);
                found.saw = found.saw.max(record.entry.project_seq.unwrap_or_default());
                found.policy = record.entry.policy;
                state.clone_from(scan.state());
            }
            Err(error) => found.problem = Some(error.into()),
        }
    }
    found.state = state;
    found
}

/// The ids of the sessions that the project's journal names, by the names that stand for them.
fn ids(project: &Project, named: Option<&str>) -> BTreeMap<String, String> {
    let scan = Scan::<ProjectSnapshot>::open(&FileStore, &project.journal()).ok();
    let of_record = |record: phasegate_formats::journal::Record<_>| {
        record.entry.event.get("session").and_then(|id| id.as_str()).map(str::to_string)
    };
    let listed = scan.into_iter().flatten().map_while(Result::ok).filter_map(of_record);
    listed.chain(named.map(str::to_string)).map(|id| (session_key(&id), id)).collect()
}
