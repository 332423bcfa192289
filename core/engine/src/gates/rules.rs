//! Rules: no rule forbids the call, and where a level denies what no rule permits, one permits each part (rules 4.9).

use alloc::boxed::Box;

use crate::decision::Effect;
use crate::denial::{Denial, DenialKind};
use crate::eval::World;
use crate::gate::Context;
use crate::past::Remembered;
use crate::rule_request::{OfState, RuleCall};
use crate::ruled::Ruled;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let rules = context.policy.rules.as_deref().filter(|_| !context.is_own)?;
    let state = OfState::of(world, context);
    let seen = context.call.analysis.redacted.as_ref().and_then(|before| before.rules.as_ref());
    let mut strictest: Option<Ruled> = None;
    for (number, level) in rules.levels.iter().enumerate() {
        let call = RuleCall::new(&level.tools, context.call, context.event, context.caller);
        let past = Remembered::new(level, context.state, context.event, context.call);
        let mut request = call.request(&state);
        request.past = Some(&past);
        request.known = seen.and_then(|seen| seen.known.get(number));
        let Some(verdict) = level.rules.decide(&request) else { continue };
        let part = if request.parts.len() > 1 { call.shown(verdict.part) } else { None };
        let ruled = Ruled::new(&verdict, part);
        if strictest.as_ref().is_none_or(|so_far| ruled.effect > so_far.effect) {
            strictest = Some(ruled);
        }
    }
    let ruled = strictest?;
    let (tool, effect): (_, Effect) = (context.call.tool.name.clone(), ruled.effect);
    Some(Denial { tool, ..Denial::new(DenialKind::Rule(Box::new(ruled)), effect) })
}
