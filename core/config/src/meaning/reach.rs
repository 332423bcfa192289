//! Phases that no sequence of calls makes current, and phases that can never be done.

use phasegate_core::Code;
use phasegate_core::policy::Leave;

use super::possible::Possible;
use crate::build::Built;
use crate::report::Finding;

/// Reports what is never reached and what is never done.
pub(super) fn check(built: &Built, possible: &Possible<'_>, damaged: &[bool], findings: &mut Vec<Finding>) {
    let reached = reached(possible);
    for (at, (phase, places)) in built.skill.phases.iter().zip(&built.places.phases).enumerate() {
        if damaged.get(at) == Some(&true) {
            continue;
        }
        if !possible.can_be_done(at) {
            findings.push(
                Finding::error(
                    Code::PhaseNeverDone,
                    places.done_when,
                    format!("phase `{}` can never be done", phase.name),
                )
                .cause("no call that its `done_when` asks for can be made in it"),
            );
        }
        if reached.get(at) == Some(&false) {
            let cause = if phase.allowed.is_empty() {
                "it allows nothing, so no call asks to enter it"
            } else {
                "in the phases before it, what it allows is forbidden, belongs to another phase, or waits for something that cannot happen"
            };
            findings.push(
                Finding::error(Code::PhaseUnreachable, places.key, format!("phase `{}` is never reached", phase.name))
                    .cause(cause)
                    .lenient(built.skill.seed),
            );
        }
    }
}

/// Which phases can become current, if those that can never be done could be: that is reported for itself.
fn reached(possible: &Possible<'_>) -> Vec<bool> {
    let phases = &possible.skill.phases;
    let mut reached = vec![false; phases.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let Some(mark @ false) = reached.get_mut(at) else { continue };
        *mark = true;
        open.extend(possible.leads(at));
        if let Some(phase) = phases.get(at).filter(|phase| phase.leave == Leave::OnDone) {
            // The first edge that needs nothing is taken; what stands after it never is.
            let shadow =
                phase.next.iter().position(|edge| edge.when.is_none()).map_or(phase.next.len(), |first| first + 1);
            open.extend(phase.next.iter().take(shadow).map(|edge| edge.to));
            open.extend(phase.back.iter().filter(|back| back.on_failure).map(|back| back.to));
        }
    }
    reached
}
