//! Effects: what earlier calls might not change is as it was, or this call puts it back (rules 4.11).

use crate::answers::decision::Effect;
use crate::answers::denial::{Changed, Denial, DenialKind};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::protection::known_to_read;
use crate::prelude::*;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let changed = &context.call.analysis.changed;
    let first = changed.first()?;
    if known_to_read(context.policy, context.call, context.caller) {
        return None;
    }
    let effect = |mode| if mode { Effect::Deny } else { Effect::Warn };
    let effects = changed.iter().map(|change| match &change.by {
        Some(by) => Effect::of_violation(by.mode),
        None => effect(context.blocks()),
    });
    let effect = effects.max().unwrap_or(Effect::Deny);
    let tool = context.call.tool.name.clone();
    let more = changed.len().saturating_sub(1);
    let kind = DenialKind::Changed(Box::new(Changed { first: first.clone(), more }));
    Some(Denial { tool, ..Denial::new(kind, effect) })
}
