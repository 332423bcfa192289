//! Sessions as a person asks about them: which there are, and where each stands.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use phasegate_adapter::Problem;
use phasegate_core::{Event, EventKind, Facts, Policy, State, event::By, step};
use serde_json::{Value, json};

use crate::facts;
use crate::journal::{Last, read_last};
use crate::kept::{KeptProject, KeptSession, kept};
use crate::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

/// A call that stays open longer than this no longer counts against a person's command.
const OPEN_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// One session, as its journal shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// The platform's id.
    pub id: String,
    /// How many records its journal has.
    pub records: u64,
    /// When its journal was last written.
    pub active: SystemTime,
    /// The version of its policy; empty if it has none.
    pub policy: String,
    /// The engine's state, the project's half included.
    pub state: State,
}

impl SessionInfo {
    /// Whether a call that can run programs is open in it.
    #[must_use]
    pub fn runs_programs(&self) -> bool {
        let recent = self.active.elapsed().is_ok_and(|since| since < OPEN_FOR);
        recent && self.state.session.calls.iter().any(|call| call.executes)
    }
}

/// The sessions of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sessions {
    /// Those whose journals can be read, the most recently active first.
    pub known: Vec<SessionInfo>,
    /// Journals that cannot be read, and why.
    pub damaged: Vec<(PathBuf, Problem)>,
}

/// The sessions of a project. Journals are read without their locks.
///
/// # Errors
///
/// `state-unreadable`, `state-version`: the project's own journal is damaged or newer than this version.
pub fn sessions(project: &Project) -> Result<Sessions, Problem> {
    let shared: KeptProject = kept(read_last(&project.journal())?.as_ref())?;
    let mut found = Sessions::default();
    for entry in std::fs::read_dir(project.sessions()).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|end| end != "journal") {
            continue;
        }
        match read_last(&path).and_then(|last| last.map(|last| info(&path, last, &shared)).transpose()) {
            Ok(session) => found.known.extend(session),
            Err(problem) => found.damaged.push((path, problem)),
        }
    }
    found.known.sort_by(|a, b| b.active.cmp(&a.active).then_with(|| a.id.cmp(&b.id)));
    found.damaged.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn info(path: &Path, last: Last, shared: &KeptProject) -> Result<SessionInfo, Problem> {
    let own: KeptSession = kept(Some(&last))?;
    let active = path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    Ok(SessionInfo {
        id: own.session.id.clone(),
        records: last.seq,
        active,
        policy: last.policy,
        state: State { session: own.session, project: shared.project.clone() },
    })
}

impl Runtime {
    /// Who a command from the command line counts as: a person, or the agent while it has a call open in the project
    /// that can run programs and so could have given the command.
    ///
    /// # Errors
    ///
    /// As for [`sessions`].
    pub fn command_by(&self, project: &Project) -> Result<By, Problem> {
        Ok(if sessions(project)?.known.iter().any(SessionInfo::runs_programs) { By::Agent } else { By::Human })
    }

    /// As [`Runtime::command_by`], for a command that concerns every project.
    ///
    /// # Errors
    ///
    /// As for [`sessions`].
    pub fn command_by_anywhere(&self) -> Result<By, Problem> {
        for entry in std::fs::read_dir(self.locations.state.join("projects")).into_iter().flatten().flatten() {
            let project = Project { root: PathBuf::new(), folder: entry.path() };
            if self.command_by(&project)? == By::Agent {
                return Ok(By::Agent);
            }
        }
        Ok(By::Human)
    }

    /// What `get_skill_phase` answers in a session, without recording that it was asked; with `None`, in a session
    /// that is still to begin.
    ///
    /// # Errors
    ///
    /// `policy-missing`: the session's policy is gone.
    pub fn status(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        let state = session.map(|session| session.state.clone()).unwrap_or_default();
        let policy = match session.filter(|session| !session.policy.is_empty()) {
            Some(session) => self.store.load(&session.policy, &state)?,
            None => match self.current(project)? {
                Current::Ready(ready) => self.store.with_earlier(ready.policy, &state)?,
                Current::Unguarded | Current::Invalid { .. } => Policy::default(),
            },
        };
        let kind = EventKind::Command { by: By::Human, name: "get_skill_phase".to_string(), args: json!({}) };
        let event = Event::new(&state.session.id, kind);
        let mut used = Facts::new();
        let mut answer = step(&policy, &state, &event, &used);
        while !answer.needs.is_empty() && answer.needs.iter().any(|key| !used.contains_key(key)) {
            facts::gather(&project.root, &answer.needs, &mut used);
            answer = step(&policy, &state, &event, &used);
        }
        Ok(answer.result.unwrap_or_default())
    }
}
