//! The first gate: nothing that the guard itself stands on is changed by a call (rules 4.1).
//!
//! What a call would change of it was found before the decision and stands in the call's reading.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;

use crate::code::Code;
use crate::decision::{Decision, Effect, Gate};
use crate::policy::{Mode, Policy, Skill};
use crate::state::State;
use crate::tool::{Call, Guarded};

/// The denial of a call that would change a part of the guard; `None` for every other call.
pub(crate) fn judge(policy: &Policy, state: &State, call: &Call, only_reads: bool) -> Option<Decision> {
    let first = call.reading.guarded.first()?;
    if only_reads {
        return None;
    }
    let mut decision =
        Decision::problem(effect(policy, state), Gate::Protection, Code::SelfProtection, reason(call, first));
    decision.tool.clone_from(&call.tool.name);
    "It is the user's to change: ask them to do it themselves, outside of the session, or go on without it."
        .clone_into(&mut decision.recovery);
    Some(decision)
}

/// The denial of a change of the platform's settings that would take the guard away.
pub(crate) fn unwired(policy: &Policy, state: &State, path: &str, why: &str) -> Decision {
    let reason = format!("with the settings as they are now in `{path}`, the guard would be gone: {why}");
    let mut decision = Decision::problem(effect(policy, state), Gate::Protection, Code::SelfProtection, reason);
    "The session keeps the settings it had; the user can undo the change, or start a new session."
        .clone_into(&mut decision.recovery);
    decision
}

fn reason(call: &Call, first: &Guarded) -> String {
    format!("{} would change `{}`, which {}", call.tool.name, first.path, first.part.words())
}

/// Where nothing asks for more than a warning, a warning is what the user wants here too.
fn effect(policy: &Policy, state: &State) -> Effect {
    let skills = policy.skills.iter().chain(&policy.earlier).filter_map(|skill: &Skill| skill.mode);
    if skills.chain(state.live_runs().map(|run| run.mode)).any(|mode| mode == Mode::Block) {
        Effect::Deny
    } else {
        Effect::Warn
    }
}
