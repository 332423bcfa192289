//! What a reason says that a rule or a budget gives.

use super::{Rendered, by_remedy};
use crate::code::Code;
use crate::decision::Gate;
use crate::reason::DenialReason;

pub(super) fn rendered(why: &DenialReason) -> Rendered {
    let (gate, code) = match why {
        DenialReason::NoRuleMatched {} => (Gate::Rules, Code::NoRuleMatched),
        DenialReason::Budget { .. } => (Gate::Budget, Code::BudgetSpent),
        DenialReason::EffectInvariantViolated { .. } => (Gate::Rules, Code::EffectInvariantViolated),
        DenialReason::AxiomViolation { .. } => (Gate::Rules, Code::AxiomViolation),
        DenialReason::Policy { .. } => (Gate::Rules, Code::PolicyDenied),
        DenialReason::RuleVersionMismatch { .. } => (Gate::Rules, Code::RuleVersionMismatch),
        DenialReason::AmbiguousRuleset {} => (Gate::Rules, Code::AmbiguousRuleset),
        DenialReason::RuleRejected { .. } => (Gate::Rules, Code::RuleRejected),
    };
    by_remedy(gate, code, why.render())
}
