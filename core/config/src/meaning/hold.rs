//! What is written and never happens: conditions that hold before anything has, and phases that are never passed over.

use phasegate_core::Code;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::{Leave, Optional, Phase};

use crate::build::builder::Built;
use crate::read::report::Finding;

/// Warns of each `done_when` that asks for nothing, and of each phase whose runs begin before it could be passed over.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let phases = || built.skill.phases.iter().zip(&built.places.phases);
    let begins = |phase: &Phase| phase.run.is_some() && phase.optional == Optional::Yes;
    for (_, (phase, places)) in phases()
        .zip(phases().skip(1))
        .filter(|((before, _), (phase, _))| before.leave == Leave::OnDone && begins(phase))
    {
        let message = format!("nothing passes over phase `{}`: its runs begin with it", phase.name);
        findings.push(
            Finding::warning(Code::ConfigValue, places.key, message)
                .cause("`optional: true` lets a call of a later phase pass over a phase, and here the run judges that call")
                .suggest("write `optional: {when: {file: PATH}}`, or remove the key: a person skips it by `phasegate skip`"),
        );
    }
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
