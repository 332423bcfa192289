//! Conditions that hold before anything has happened.

use phasegate_core::Code;
use phasegate_core::condition::Condition;

use crate::build::builder::Built;
use crate::report::Finding;

/// Warns of each `done_when` that asks for nothing.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    for (phase, places) in built.skill.phases.iter().zip(&built.places.phases) {
        if phase.done_when.as_ref().is_some_and(only_denies) {
            let message = format!("phase `{}` is done before anything has happened", phase.name);
            findings.push(
                Finding::warning(Code::ConfigValue, places.done_when, message)
                    .cause("its `done_when` only says what must not have happened")
                    .suggest("add what must have happened: `{ok: ..., not: ...}`"),
            );
        }
    }
}

/// Whether the condition says of calls and texts that there must be none, and no more.
fn only_denies(condition: &Condition) -> bool {
    match condition {
        Condition::All(parts) => !parts.is_empty() && parts.iter().all(only_denies),
        Condition::Any(parts) => parts.iter().any(only_denies),
        Condition::Not(inner) => matches!(**inner, Condition::Call(_) | Condition::Says(_)),
        _ => false,
    }
}
