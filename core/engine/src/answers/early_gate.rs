//! Calls that the gate of a wave asks for, made before the wave has finished: they do not count, and the agent is told why.

use crate::answers::decision::Decision;
use crate::answers::phrase;
use crate::calls::tool::Call;
use crate::decide::judge::{Caller, SkillCall};
use crate::events::call::agent_kind;
use crate::events::event::Event;
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Children, Run};

/// What the notice is about.
const ABOUT: &str = "gate";

/// Tells what a wave still needs, with a call that invokes what its gate asks for. Tests and the like an agent runs in a wave
/// for their own sake.
pub(crate) fn tell(policy: &Policy, draft: &mut Draft, event: &Event, decision: Option<&Decision>) {
    let invokes = |call: &Call| call.analysis.invokes.is_some() && decision.is_some_and(Decision::lets_through);
    let Some(call) = event.call().filter(invokes) else { return };
    let kind = agent_kind(draft.state(), event);
    let caller = Caller { agent: event.subagent(), kind: &kind };
    let live = draft.state().live_runs().filter(|run| run.children == Children::Live);
    let due: Vec<Change> = live.filter_map(|run| early(policy, run, &call, caller)).collect();
    due.into_iter().for_each(|change| draft.change(change));
}

fn early(policy: &Policy, run: &Run, call: &Call, caller: Caller<'_>) -> Option<Change> {
    let progress = run.plan.as_ref()?;
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let phase = skill.phases.get(skill.phase_index(&run.phase)?)?;
    let gate = phase.done_when.as_ref().filter(|_| phase.run.as_ref().is_some_and(|runs| runs.gate))?;
    let seen = SkillCall::new(skill, call, caller);
    let mut asked = false;
    gate.each_call(&mut |test| asked |= test.matcher.invokes.is_some() && seen.is_about(&test.matcher));
    let left: Vec<&str> = progress.left().map(|element| element.id.as_str()).collect();
    let needs = phrase::of_elements(&left, false);
    let text = format!(
        "phasegate: the gate of this wave of `{}` is not reached, so this call does not count for it. It needs {needs}; then \
         make the call again.",
        skill.name
    );
    asked.then(|| Change::NoticeDue { run: run.id.clone(), about: ABOUT.into(), text })
}
