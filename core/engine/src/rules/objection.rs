//! What a rule says against a call, or that no rule permits it (rules 4.9).

use phasegate_rules::{RuleKind, Truth, Verdict};

use crate::answers::decision::Effect;
use crate::answers::reason::DenialReason;
use crate::answers::subject;
use crate::calls::tool::Call;
use crate::prelude::*;

/// What the rules say against a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled {
    /// The rule; `None`: no rule permits the call.
    pub rule: Option<NamedRule>,
    /// The call, or the part of it that the rule is about, as a person reads it.
    pub subject: String,
    /// What becomes of the call.
    pub effect: Effect,
    /// What made the rule be about the part, where that is not seen in it.
    pub because: Option<Because>,
}

/// What makes a rule be about a part of a call, beside what is seen in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// An assignment changes what is known of the command: why, as a fragment.
    Assignment(String),
    /// The part accesses files and does not say which.
    Unnamed,
}

/// A rule that is about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRule {
    /// Its name.
    pub name: String,
    /// Why it forbids such calls; empty where it says nothing.
    pub reason: String,
    /// How to get on, where it says it.
    pub recovery: Option<String>,
    /// What its denial is given as to programs.
    pub kind: Option<RuleKind>,
    /// How surely it is about the call.
    pub truth: Truth,
}

impl Ruled {
    /// What a verdict says.
    pub(crate) fn new(verdict: &Verdict<'_>, call: &Call, part: Option<String>, because: Option<Because>) -> Self {
        let subject = match part.filter(|_| !call.analysis.unsaid) {
            Some(part) if call.analysis.commands.is_empty() => format!("{} of `{part}`", call.tool.name),
            Some(part) => format!("`{part}`"),
            None => subject::of_call(call),
        };
        let rule = verdict.rule.map(|rule| NamedRule {
            name: rule.id.clone(),
            reason: rule.reason.clone(),
            recovery: rule.recovery.clone(),
            kind: rule.kind.clone(),
            truth: verdict.truth,
        });
        Self { rule, subject, effect: effect(verdict), because }
    }

    /// Why, as data: in the rule's own words, whatever the call.
    pub fn reason(&self) -> DenialReason {
        let Some(rule) = &self.rule else { return DenialReason::no_rule_matched() };
        let why = || own_reason(rule).to_owned();
        match &rule.kind {
            None => DenialReason::rule_rejected(&rule.name, why()),
            Some(RuleKind::Rule(name)) => DenialReason::rule_rejected(name, why()),
            Some(RuleKind::Policy(id)) => DenialReason::policy(id, why()),
            Some(RuleKind::Axiom(id)) => DenialReason::axiom_violation(id),
            Some(RuleKind::Invariant(name)) => DenialReason::effect_invariant_violated(name),
            Some(RuleKind::Ambiguous) => DenialReason::ambiguous_ruleset(),
        }
    }

    /// The sentence that people and agents read.
    pub(crate) fn render(&self) -> String {
        match (&self.rule, self.effect) {
            (None, _) => format!("no rule permits {}", self.subject),
            (Some(rule), Effect::Ask) => {
                format!("rule {} leaves {} to the user: {}", rule.name, self.subject, self.why(rule))
            }
            (Some(rule), Effect::Warn) => {
                format!("rule {} advises against {}: {}", rule.name, self.subject, self.why(rule))
            }
            (Some(rule), Effect::Allow | Effect::Deny) => {
                format!("rule {} forbids {}: {}", rule.name, self.subject, self.why(rule))
            }
        }
    }

    fn why(&self, rule: &NamedRule) -> String {
        let doubt = match rule.truth {
            Truth::Unknown if self.because == Some(Because::Unnamed) => {
                "; it may be about this call, which does not say which files it accesses (`context.path.named` is false)"
            }
            Truth::Unknown => "; it may be about this call: some of it is not known before it runs",
            Truth::Failed => "; it cannot be evaluated for this call, so it counts",
            Truth::Yes | Truth::No => "",
        };
        let assigned = match &self.because {
            Some(Because::Assignment(because)) => format!("; {because}"),
            Some(Because::Unnamed) | None => String::new(),
        };
        format!("{}{assigned}{doubt}", own_reason(rule).trim_end_matches('.'))
    }

    /// How to get on, where the rule says it.
    pub(crate) fn recovery(&self) -> Option<String> {
        self.rule.as_ref()?.recovery.as_ref().cloned()
    }
}

/// Why a rule forbids such calls, as it says it.
fn own_reason(rule: &NamedRule) -> &str {
    if rule.reason.is_empty() { "it forbids such calls" } else { &rule.reason }
}

fn effect(verdict: &Verdict<'_>) -> Effect {
    match verdict.effect {
        phasegate_rules::Effect::Warn => Effect::Warn,
        phasegate_rules::Effect::Ask => Effect::Ask,
        phasegate_rules::Effect::Deny => Effect::Deny,
    }
}
