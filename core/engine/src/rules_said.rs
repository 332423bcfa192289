//! What the rules of all levels say against a call (rules 4.9).

use crate::gate::Context;
use crate::past::Remembered;
use crate::rule_request::{OfState, RuleCall};
use crate::ruled::Ruled;
use crate::rules_seen::RulesSeen;

/// The strictest of it. `seen`: what they said of arguments that a record leaves out.
pub(crate) fn strictest(context: &Context<'_>, state: &OfState, seen: Option<&RulesSeen>) -> Option<Ruled> {
    let rules = context.policy.rules.as_deref()?;
    let mut strictest: Option<Ruled> = None;
    for (number, level) in rules.levels.iter().enumerate() {
        let call = RuleCall::new(&level.tools, context.call, context.event, context.caller);
        let past = Remembered::new(level, context.state, context.event, context.call);
        let mut request = call.request(state);
        request.past = Some(&past);
        request.known = seen.and_then(|seen| seen.known.get(number));
        let Some(verdict) = level.rules.decide(&request) else { continue };
        let part = if request.parts.len() > 1 { call.shown(verdict.part) } else { None };
        let ruled = Ruled::new(&verdict, part);
        if strictest.as_ref().is_none_or(|so_far| ruled.effect > so_far.effect) {
            strictest = Some(ruled);
        }
    }
    strictest
}
