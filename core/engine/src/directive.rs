//! Directives: while a subagent has to be started, a denial and a held stop say again how (rules 3.4).

use alloc::string::String;

use crate::decision::Decision;
use crate::draft::Draft;
use crate::event::{Event, EventKind};
use crate::policy::{Phase, Policy};
use crate::state::{Run, State, Status};

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
    let state = draft.state();
    let waiting: Option<String> = state.live_runs().find(|run| waits(policy, state, run)).map(|run| run.id.clone());
    if let Some(run) = waiting {
        draft.announce(&run);
    }
}

/// Whether the phase of a run waits for a subagent to be started, and says what its prompt has to hold.
fn waits(policy: &Policy, state: &State, run: &Run) -> bool {
    let Some(phase) = phase(policy, run).filter(|phase| phase.description.contains('\n')) else { return false };
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
