//! All rules over one call.

use alloc::vec::Vec;

use crate::evaluate::Place;
use crate::expr::Expr;
use crate::known::Known;
use crate::request::Request;
use crate::rule::{Default, Effect, Rule, Ruleset};
use crate::tools::is_own_action;
use crate::value::Truth;

/// What the rules say against a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict<'r> {
    /// What becomes of the call.
    pub effect: Effect,
    /// The rule. `None`: no rule permits the call.
    pub rule: Option<&'r Rule>,
    /// The part that the rule is about, or that no rule permits.
    pub part: usize,
    /// How surely the rule is about the call.
    pub truth: Truth,
}

/// A rule that may be about an action, and how surely it is about a part of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The part.
    pub part: usize,
    /// How surely it is about it.
    pub truth: Truth,
}

/// What every test of arguments says of a call.
pub fn known(rules: &Ruleset, request: &Request<'_>) -> Known {
    let mut known = Known::default();
    for rule in rules.candidates(request.action.id) {
        let Some(condition) = &rule.when else { continue };
        for (number, part) in request.parts.iter().enumerate() {
            let place = Place { request, part, number, rule };
            condition.each(&mut |expr| {
                if let Expr::Test(test, condition) = expr {
                    known.note(&rule.id, number, *test, place.truth(condition));
                }
            });
        }
    }
    known
}

impl Ruleset {
    /// The strictest that the rules say against a call: a rule that is surely about it comes before one that may be, then
    /// the first by its id. `None`: the call passes.
    pub fn decide<'r>(&'r self, request: &'r Request<'r>) -> Option<Verdict<'r>> {
        let mut strictest: Option<Verdict<'r>> = None;
        let mut hit = |verdict: Verdict<'r>| {
            let rank = |verdict: &Verdict<'_>| (verdict.effect, verdict.truth == Truth::Yes);
            if strictest.as_ref().is_none_or(|so_far| rank(&verdict) > rank(so_far)) {
                strictest = Some(verdict);
            }
        };
        let (mut permitted, mut some) = (alloc::vec![false; request.parts.len()], false);
        for rule in self.candidates(request.action.id) {
            if rule.forbids.is_none() && self.default == Default::Permit {
                continue;
            }
            let truth = |number: usize| self.truth(request, rule, number);
            for number in 0..request.parts.len() {
                let truth = truth(number);
                match (rule.forbids, truth) {
                    (_, Truth::No) => {}
                    (Some(effect), truth) => hit(Verdict { effect, rule: Some(rule), part: number, truth }),
                    (None, Truth::Failed) => {
                        hit(Verdict { effect: Effect::Deny, rule: Some(rule), part: number, truth });
                    }
                    (None, Truth::Yes) => {
                        some = true;
                        permitted.iter_mut().skip(number).take(1).for_each(|part| *part = true);
                    }
                    (None, Truth::Unknown) => {}
                }
            }
        }
        // What an agent does with the guard itself passes where no rule is about it.
        if self.default == Default::Deny
            && !is_own_action(request.action.id)
            && let Some(part) = permitted.iter().position(|permitted| !permitted)
            && !(request.open && some)
        {
            hit(Verdict { effect: Effect::Deny, rule: None, part, truth: Truth::Yes });
        }
        strictest
    }

    /// Whether any rule may be about an action.
    pub fn is_about(&self, action: &str) -> bool {
        self.candidates(action).any(|rule| rule.forbids.is_some())
    }

    /// Every rule that may be about the action, with every part of the call.
    pub fn held<'r>(&'r self, request: &'r Request<'r>) -> Vec<Held<'r>> {
        let each = |rule| (0..request.parts.len()).map(move |part| (rule, part));
        let all = self.candidates(request.action.id).flat_map(each);
        all.map(|(rule, part)| Held { rule, part, truth: self.truth(request, rule, part) }).collect()
    }

    /// Whether a rule is about a part. Where the arguments are open, some call is meant that no `forbid` and that a
    /// `permit` is about.
    fn truth(&self, request: &Request<'_>, rule: &Rule, number: usize) -> Truth {
        let Some(part) = request.parts.get(number) else { return Truth::No };
        let found = Place { request, part, number, rule }.holds();
        match found {
            Truth::Unknown | Truth::Failed if request.open => Truth::of(rule.forbids.is_none()),
            other => other,
        }
    }
}
