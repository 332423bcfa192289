//! The live runs of a project, as its sessions and its own journal show them.

use phasegate_adapter::Problem;
use phasegate_core::policy::{Policy, Skill};
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::sessions::{SessionInfo, Sessions, sessions};
use phasegate_runtime::{Project, Runtime};
use serde_json::Value;

use crate::command::runs::control::{in_full, no_session};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// What there is in a project.
pub(crate) struct Found {
    pub(crate) runtime: Runtime,
    pub(crate) project: Project,
    /// The runs of the project, with what waits for a person in them.
    pub(crate) shared: Seen,
    /// The sessions that go on and have runs of their own, the one that was active last first.
    pub(crate) sessions: Vec<Seen>,
    /// Why sessions cannot be read, which may have runs.
    pub(crate) damaged: Vec<Problem>,
}

/// The runs that judge in a session; or the runs of the project, as a session sees them.
pub(crate) struct Seen {
    /// The session; `None`: none goes on.
    pub(crate) session: Option<SessionInfo>,
    pub(crate) runs: Vec<Value>,
    /// What waits for a person's approval.
    pub(crate) waiting: Vec<Value>,
}

/// Looks.
///
/// # Errors
///
/// The session is not known, or the state cannot be read.
pub(crate) fn found(context: &Context, session: Option<&String>) -> Result<Found, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Sessions { mut known, damaged, .. } = sessions(&project)?;
    match in_full(&project, session)? {
        Some(id) => {
            known.retain(|session| session.id == id);
            if known.is_empty() {
                return Err(no_session(&project, &id));
            }
        }
        None => known.retain(|session| !session.state.session.ended),
    }
    // A session whose policy is gone can be asked for nothing; the others can.
    let mut all: Vec<Seen> = known.into_iter().filter_map(|one| seen(&runtime, &project, Some(one)).ok()).collect();
    let project_alone = if all.is_empty() { seen(&runtime, &project, None)? } else { Seen::nothing() };
    let is_shared = |run: &Value| run.get("scope").and_then(Value::as_str) == Some("project");
    let mut shared = project_alone;
    if let Some(first) = all.first() {
        let runs = first.runs.iter().filter(|run| is_shared(run)).cloned().collect::<Vec<_>>();
        let waiting = first.waiting.iter().filter(|one| is_of(one, &runs)).cloned().collect();
        shared = Seen { session: first.session.clone(), runs, waiting };
    }
    for one in &mut all {
        one.runs.retain(|run| !is_shared(run));
        one.waiting.retain(|waits| is_of(waits, &one.runs));
    }
    all.retain(|one| !one.runs.is_empty());
    let damaged = damaged.into_iter().map(|(_, problem)| problem).collect();
    Ok(Found { runtime, project, shared, sessions: all, damaged })
}

fn is_of(waits: &Value, runs: &[Value]) -> bool {
    runs.iter().any(|run| run.get("run") == waits.get("run"))
}

fn seen(runtime: &Runtime, project: &Project, session: Option<SessionInfo>) -> Result<Seen, Failure> {
    let runs = match runtime.runs(project, session.as_ref())? {
        Value::Array(runs) => runs,
        _ => Vec::new(),
    };
    let waiting = runtime.approvals(project, session.as_ref())?;
    let waiting = waiting.get("waiting").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(Seen { session, runs, waiting })
}

impl Seen {
    fn nothing() -> Self {
        Self { session: None, runs: Vec::new(), waiting: Vec::new() }
    }

    /// The id of the session.
    pub(crate) fn id(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }

    /// The runs that are part of no other, the one that began first at the front.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Value> {
        self.runs.iter().rev().filter(|run| !self.has(run.get("part_of")))
    }

    fn has(&self, id: Option<&Value>) -> bool {
        id.is_some_and(|id| self.runs.iter().any(|run| run.get("run") == Some(id)))
    }

    /// What waits for a person in a run and in its parts.
    pub(crate) fn waiting_in<'s>(&'s self, root: &'s Value) -> impl Iterator<Item = &'s Value> {
        self.waiting.iter().filter(move |waits| {
            let mut at = self.runs.iter().find(|run| run.get("run") == waits.get("run"));
            // No tree is deeper than there are runs.
            for _ in 0..self.runs.len() {
                match at {
                    Some(run) if run.get("run") == root.get("run") => return true,
                    Some(run) => at = self.runs.iter().find(|one| one.get("run") == run.get("part_of")),
                    None => return false,
                }
            }
            false
        })
    }

    /// The live runs that are part of another one.
    pub(crate) fn parts<'s>(&'s self, of: &'s Value) -> impl Iterator<Item = &'s Value> {
        self.runs.iter().rev().filter(move |run| run.get("part_of").is_some() && run.get("part_of") == of.get("run"))
    }
}

impl Found {
    /// Every place that has runs: the project first.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Seen> {
        std::iter::once(&self.shared).chain(&self.sessions)
    }

    /// The run of this id; without one, the only one that `fits`, of the first place that has any.
    ///
    /// # Errors
    ///
    /// There is none, or there are several.
    pub(crate) fn run(&self, id: Option<&String>, fits: &Fits<'_>) -> Result<&Value, Failure> {
        let is_it = |run: &&Value| id.is_none_or(|id| text(run, "run") == id) && (id.is_some() || (fits.test)(run));
        let at = |seen: &&Seen| seen.runs.iter().any(|run| is_it(&run));
        let Some(seen) = self.places().find(at) else {
            let exit = if id.is_some() { Exit::Failed } else { Exit::No };
            let named = id.map(|id| format!("no run `{id}` is live")).unwrap_or_else(|| fits.none.to_string());
            return Err(
                Failure { exit, ..Failure::new(named) }.with_help("`phasegate status runs` shows the live runs")
            );
        };
        let all: Vec<&Value> = seen.runs.iter().filter(is_it).collect();
        match all.as_slice() {
            [one] => Ok(one),
            several => {
                let ids: Vec<&str> = several.iter().map(|run| text(run, "run")).collect();
                Err(Failure::new(format!("several runs may be meant: {}", ids.join(", ")))
                    .with_help("say which one with `--run ID`"))
            }
        }
    }

    /// The skill that a live run began with.
    ///
    /// # Errors
    ///
    /// Its config is gone.
    pub(crate) fn skill_of(&self, run: &Value) -> Result<Skill, Failure> {
        let id = text(run, "run");
        let state = |seen: &Seen| seen.session.as_ref().map(|session| session.state.clone());
        let holds = |seen: &&Seen| seen.runs.iter().any(|one| text(one, "run") == id);
        let state = match self.places().find(holds).and_then(state) {
            Some(state) => state,
            None => self.runtime.project_state(&self.project)?,
        };
        let began = state.run(id).ok_or_else(|| Failure::new(format!("no run `{id}` is live")))?;
        let policy = self.runtime.policies.with_earlier(self.policy()?, &state)?;
        let skill = policy.skill_version(&began.skill, &began.version);
        skill.cloned().ok_or_else(|| Failure::new(format!("the config of `{}` is gone", began.skill)))
    }

    /// What the configs of the project mean now.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        Ok(match self.runtime.current(&self.project)? {
            Current::Ready(ready) => ready.policy,
            Current::Unguarded | Current::Invalid { .. } => Policy::default(),
        })
    }
}

/// Which run is meant where none is named.
pub(crate) struct Fits<'a> {
    pub(crate) test: &'a dyn Fn(&Value) -> bool,
    /// What is said where none fits.
    pub(crate) none: &'a str,
}

/// A text of an object; empty where there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A list of an object.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}
