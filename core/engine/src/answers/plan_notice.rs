//! A list of elements that was written and cannot be worked on: the agent is told at once, and not when it goes on to them.

use crate::decide::Done;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::State;
use crate::state::change::Change;
use crate::state::draft::Draft;

/// What the notice is about.
const ABOUT: &str = "plan";

/// Tells what is wrong with the plan that a phase has made, where the next phase runs its elements and the newest result is
/// that of a call of the phase. `before`: the state before the event, which still has that call.
pub(crate) fn tell(world: &mut World<'_>, policy: &Policy, before: &State, draft: &mut Draft, event: &Event) {
    let EventKind::ToolResult { id: Some(id), .. } = &event.kind else { return };
    let Some(call) = before.session.calls.iter().find(|call| call.id.as_ref() == Some(id)) else { return };
    let mut due = Vec::new();
    for place in call.visits.iter().filter(|place| place.listed) {
        let Some(run) = draft.run(&place.run).filter(|run| run.visit == place.visit) else { continue };
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { continue };
        let Some(phase) = skill.phases.get(place.phase) else { continue };
        for next in phase.next.iter().filter_map(|edge| skill.phases.get(edge.to)) {
            let makes = |name: &str| skill.produced_in(phase).any(|artifact| artifact.name == name);
            let Some(file) = next.plan().filter(|file| makes(&file.artifact)) else { continue };
            if world.done(run, phase) != Done::Yes {
                continue;
            }
            if let Some(Err(fault)) = world.plan(run, file) {
                let text = format!("phasegate: the phase \"{}\" cannot begin: it needs {fault}.", next.name);
                due.push(Change::NoticeDue { run: run.id.clone(), about: ABOUT.into(), text });
            }
        }
    }
    due.into_iter().for_each(|change| draft.change(change));
}
