//! Protection: no call changes a protected path (rules 4.1).
//!
//! The call analysis lists the protected paths that a call would change.

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::calls::tool::{Call, only_reads};
use crate::decide::judge::{Caller, SkillCall};
use crate::evidence::eval::World;
use crate::gates::gate::{Context, blocks};
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::State;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let first = context.call.analysis.guarded.first()?;
    if known_to_read(context.policy, context.call, context.caller) {
        return None;
    }
    let tool = context.call.tool.name.clone();
    let kind = DenialKind::SelfProtection { tool: tool.clone(), path: first.path.clone(), part: first.part };
    Some(Denial { tool, ..Denial::new(kind, effect(context.blocks() || context.call.analysis.of_strict_others)) })
}

/// A change of the platform's settings: it takes the guard away, or the running client would take it up. What the guard reads
/// of them now is not what the client reads then, while programs run; so in block mode a session keeps those it began with.
pub(crate) fn settings_changed(
    policy: &Policy,
    state: &State,
    path: &str,
    unguarded: Option<&str>,
    at_once: bool,
) -> Option<Denial> {
    let (path, blocks) = (path.to_string(), blocks(policy, state));
    let kind = match unguarded {
        Some(why) => DenialKind::GuardRemoved { path, why: why.to_string() },
        None if at_once && blocks => DenialKind::SettingsKept { path },
        None => return None,
    };
    Some(Denial::new(kind, effect(blocks)))
}

fn effect(blocks: bool) -> Effect {
    if blocks { Effect::Deny } else { Effect::Warn }
}

/// Whether the platform or a skill of the policy says that the tool reads, and none that it does more.
pub(super) fn known_to_read(policy: &Policy, call: &Call, caller: Caller<'_>) -> bool {
    let skills = policy.skills.iter().chain(&policy.earlier).filter(|skill| !skill.tools.is_empty());
    let mut labels = call.tool.labels.clone();
    labels.extend(skills.flat_map(|skill| SkillCall::new(skill, call, caller).labels().clone()));
    only_reads(&labels)
}
