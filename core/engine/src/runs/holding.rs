//! Which session works on the runs that a phase of a project's run consists of: the one that made the first call for them.
//! Others may only read there, until that session has ended (rules 3.1).

use serde_json::Value;

use crate::calls::tool::{Call, only_reads};
use crate::evidence::eval::World;
use crate::evidence::fact::{FactKey, FactValue};
use crate::policy::Scope;
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Children, Run, State, Status};

/// The fact whether a session goes on: `true`, `false`, or absent where nothing is kept of it.
const SESSION: &str = "session";

/// The other session that works on these runs, if one does.
pub(crate) fn other<'a>(state: &State, runs: &[&'a Run]) -> Option<&'a str> {
    let own = state.session.id.as_str();
    let mut holders = runs.iter().filter_map(|run| run.held_by.as_deref());
    holders.rfind(|holder| !own.is_empty() && *holder != own)
}

/// The other session that works on a run or on one that it is a part of.
pub(crate) fn other_above<'a>(state: &'a State, run: &'a Run) -> Option<&'a str> {
    other(state, &with_parents(state, run))
}

/// A run, and those that it is a part of.
fn with_parents<'a>(state: &'a State, run: &'a Run) -> Vec<&'a Run> {
    let mut found = alloc::vec![run];
    let mut at = run;
    // Every run has fewer ancestors than there are live runs, whatever the parents in a state say.
    for _ in 0..state.live_runs().count() {
        let parent = at.parent.as_deref().and_then(|parent| state.run(parent));
        let Some(parent) = parent.filter(|parent| parent.status == Status::Active) else { break };
        found.push(parent);
        at = parent;
    }
    found
}

/// Frees the runs of other sessions that are over, where a call may go on with them.
pub(crate) fn take_over(world: &mut World<'_>, draft: &mut Draft, call: &Call) {
    if only_reads(&call.tool.labels) && call.analysis.invokes.is_none() {
        return;
    }
    let state = draft.state();
    let mut sessions: Vec<String> = Vec::new();
    for run in &state.project.runs {
        let holder = other(state, &[run]).filter(|_| run.status == Status::Active);
        sessions.extend(holder.filter(|holder| !sessions.iter().any(|known| known == holder)).map(String::from));
    }
    for session in sessions {
        if is_over(world, &session) {
            free(draft, &session);
        }
    }
}

/// Whether a session is known to be over.
fn is_over(world: &mut World<'_>, session: &str) -> bool {
    match world.fact(&FactKey::new(SESSION, &Value::from(session))) {
        Some(FactValue::Known(goes_on)) => goes_on == Value::Bool(false),
        Some(FactValue::Absent) => true,
        Some(FactValue::Unknown) | None => false,
    }
}

/// A session is over: others may go on with what it works on. Its subagents are gone.
pub(crate) fn free(draft: &mut Draft, session: &str) {
    let mut changes = Vec::new();
    for run in draft.state().project.runs.iter().filter(|run| run.status == Status::Active) {
        if run.held_by.as_deref() == Some(session) {
            changes.push(Change::RunsHeld { run: run.id.clone(), session: None });
        }
        if run.branch.as_ref().is_some_and(|branch| branch.session.as_deref() == Some(session)) {
            changes.push(Change::BranchBound { run: run.id.clone(), agent: None, session: None });
        }
    }
    changes.into_iter().for_each(|change| draft.change(change));
}

/// The session works from now on on the runs that consist of this one, where no other does.
pub(crate) fn hold(draft: &mut Draft, run: &str) {
    let state = draft.state();
    let own = &state.session.id;
    let Some(run) = state.run(run).filter(|run| run.scope == Scope::Project && !own.is_empty()) else { return };
    let has_parts = |run: &&&Run| matches!(run.children, Children::Live | Children::Gate) && run.held_by.is_none();
    let runs = with_parents(state, run);
    let of = |run: &&Run| Change::RunsHeld { run: run.id.clone(), session: Some(own.to_string()) };
    let held: Vec<Change> = runs.iter().filter(has_parts).map(of).collect();
    held.into_iter().for_each(|change| draft.change(change));
}
