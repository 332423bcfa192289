//! Directives: while a subagent has to be started, a denial and a held stop say again how (rules 3.4).

use serde_json::{Value, json};

use crate::answers::decision::Decision;
use crate::answers::obligation;
use crate::events::event::{Event, EventKind};
use crate::policy::{Phase, Policy};
use crate::prelude::*;
use crate::runs::tree;
use crate::state::draft::Draft;
use crate::state::{Children, Run, State, Status};

/// Has the main agent told again which subagent to start, where it was denied something else or kept from stopping. The
/// same call, denied again, is answered without.
pub(crate) fn remind(policy: &Policy, draft: &mut Draft, event: &Event, decision: Option<&Decision>) {
    if event.subagent().is_some() || decision.is_none_or(Decision::lets_through) {
        return;
    }
    let asked = match &event.kind {
        EventKind::ToolCall { .. } => draft.state().session.denied.last().is_some_and(|denied| denied.times == 1),
        EventKind::Stop { .. } => true,
        _ => false,
    };
    if !asked {
        return;
    }
    let waiting = pending(policy, draft.state()).map(|run| run.id.clone());
    if let Some(run) = waiting {
        draft.announce(&run);
    }
}

/// The run whose phase waits for a subagent to be started.
fn pending<'s>(policy: &Policy, state: &'s State) -> Option<&'s Run> {
    state.live_runs().find(|run| waits(policy, state, run))
}

/// What the agent is told to do next, where a subagent has to be started.
pub(crate) fn next(policy: &Policy, state: &State) -> Option<String> {
    text(policy, state, pending(policy, state)?)
}

/// What the agent is told of each live run that judges calls: the answer of `directives`.
pub(crate) fn all(policy: &Policy, state: &State) -> Value {
    let judging = state.live_runs().filter(|run| run.children != Children::Live);
    let told = judging.filter_map(|run| {
        let text = text(policy, state, run)?;
        Some(json!({"run": run.id, "skill": run.skill, "root": tree::root(state, run).id, "text": text}))
    });
    told.collect::<Vec<_>>().into()
}

fn text(policy: &Policy, state: &State, run: &Run) -> Option<String> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let parent = run.parent.as_deref().and_then(|parent| state.run(parent)).map(|parent| parent.skill.as_str());
    Some(obligation::announce(skill, run, parent))
}

/// Whether the phase of a run waits for a subagent to be started, and says what its prompt has to hold.
fn waits(policy: &Policy, state: &State, run: &Run) -> bool {
    let Some(phase) = phase(policy, run).filter(|phase| phase.task.contains('\n')) else { return false };
    let Some(kind) = &phase.done_by else { return false };
    let does = match &run.branch {
        Some(branch) => branch.agent.is_some(),
        None => state.session.agents.iter().any(|agent| agent.kind == *kind),
    };
    run.status == Status::Active && !run.stands_still() && !does
}

fn phase<'p>(policy: &'p Policy, run: &Run) -> Option<&'p Phase> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    skill.phases.get(skill.phase_index(&run.phase)?)
}
