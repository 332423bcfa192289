//! What the rules of all levels say against a call (rules 4.9).

use phasegate_rules::{Request, Rule, Truth, Value, Verdict};

use crate::calls::analysis::SimpleCommand;
use crate::gates::gate::Context;
use crate::prelude::*;
use crate::rules::earlier_calls::EarlierCalls;
use crate::rules::objection::{Because, Ruled};
use crate::rules::rule_request::{OfState, RuleCall};
use crate::state::rule_answers::RulesSeen;

/// The strictest of it. `seen`: what they said of arguments that a record leaves out.
pub(crate) fn strictest(context: &Context<'_>, state: &OfState, seen: Option<&RulesSeen>) -> Option<Ruled> {
    let rules = context.policy.rules.as_deref()?;
    let mut strictest: Option<Ruled> = None;
    let earlier = EarlierCalls::new(context.policy, context.state, context.event, context.call, context.caller);
    for (number, level) in rules.levels.iter().enumerate() {
        let call = RuleCall::new(&level.tools, context.call, context.event, context.caller);
        let mut request = call.request(state);
        request.facts = Some(&earlier);
        request.known = seen.and_then(|seen| seen.known.get(number));
        let Some(verdict) = level.rules.decide(&request) else { continue };
        let part = if request.parts.len() > 1 { call.shown(verdict.part) } else { None };
        let because = verdict.rule.and_then(|rule| because(rule, &verdict, &request, &call));
        let ruled = Ruled::new(&verdict, context.call, part, because);
        if strictest.as_ref().is_none_or(|so_far| ruled.effect > so_far.effect) {
            strictest = Some(ruled);
        }
    }
    strictest
}

/// What makes a rule be about a part of a call, beside what is seen in it.
fn because(rule: &Rule, verdict: &Verdict<'_>, request: &Request<'_>, call: &RuleCall<'_>) -> Option<Because> {
    let command = call.commands_of_parts().into_iter().nth(verdict.part).flatten();
    let by_verdict = rule.when.as_ref().is_some_and(|when| when.reads("command", &["does", "verdict"]));
    if let Some(because) = command.filter(|_| by_verdict).and_then(assigned) {
        return Some(Because::Assignment(because));
    }
    let unnamed = || match &request.parts.get(verdict.part)?.path {
        Some(Value::Record(fields)) => fields.iter().find(|(name, _)| *name == "named").map(|(_, named)| named.clone()),
        _ => None,
    };
    let is_unnamed = verdict.truth == Truth::Unknown && rule.is_about_unnamed();
    (is_unnamed && unnamed() == Some(Value::Bool(false))).then_some(Because::Unnamed)
}

/// Why a command does more than read, where an assignment before it is the reason.
fn assigned(command: &SimpleCommand) -> Option<String> {
    let because = command.because.as_ref()?;
    let names = |name: &str| because.starts_with(&format!("`{name}` "));
    command.assignments.iter().any(|(name, _)| names(name)).then(|| because.clone())
}
