//! Rules: no rule forbids the call, and where a level denies what no rule permits, one permits each part (rules 4.9).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::prelude::*;
use crate::rules::objections::strictest;
use crate::rules::own_action;
use crate::rules::rule_request::OfState;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    context.policy.rules.as_ref().filter(|_| !context.is_own)?;
    let state = OfState::of(world, context);
    let seen = context.call.analysis.redacted.as_ref().and_then(|before| before.rules.as_ref());
    let said = [strictest(context, &state, seen), own_action::of_call(world, context, &state)];
    let ruled = said.into_iter().flatten().reduce(|one, other| if other.effect > one.effect { other } else { one })?;
    let (tool, effect): (_, Effect) = (context.call.tool.name.clone(), ruled.effect);
    Some(Denial { tool, ..Denial::new(DenialKind::Rule(Box::new(ruled)), effect) })
}
