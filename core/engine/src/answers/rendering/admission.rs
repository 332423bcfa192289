//! What is said of a call that a rule, a budget or the access does not admit.

use crate::answers::code::Code;
use crate::answers::decision::Gate;
use crate::answers::denial::WhyReadonly;
use crate::answers::reason::DenialReason;
use crate::prelude::*;

/// The gate and the code of a reason.
pub(super) fn named(why: &DenialReason) -> (Gate, Code) {
    match why {
        DenialReason::NoRuleMatched {} => (Gate::Rules, Code::NoRuleMatched),
        DenialReason::Budget { .. } => (Gate::Budget, Code::BudgetSpent),
        DenialReason::EffectInvariantViolated { .. } => (Gate::Rules, Code::EffectInvariantViolated),
        DenialReason::AxiomViolation { .. } => (Gate::Rules, Code::AxiomViolation),
        DenialReason::Policy { .. } => (Gate::Rules, Code::PolicyDenied),
        DenialReason::RuleVersionMismatch { .. } => (Gate::Version, Code::RuleVersionMismatch),
        DenialReason::AmbiguousRuleset {} => (Gate::Rules, Code::AmbiguousRuleset),
        DenialReason::RuleRejected { .. } => (Gate::Rules, Code::RuleRejected),
    }
}

/// How to get on.
pub(super) fn recovery(why: &DenialReason) -> String {
    match why {
        DenialReason::Budget { .. } => "Go on without such calls until then, or ask the user: `phasegate access admin \
                                        --for 30m` lifts all budgets for that time."
            .to_string(),
        _ => named(why).1.remedy().to_string(),
    }
}

/// The reason of a denial of a call that does more than read, and how to get on.
pub(super) fn readonly(tool: &str, why: WhyReadonly) -> (String, String) {
    let whose = match why {
        WhyReadonly::Config => "the config says `access: readonly`",
        WhyReadonly::Person => "the user set the access to `readonly`",
        WhyReadonly::Server => "the server makes this call with the access `readonly`",
    };
    let recovery = match why {
        WhyReadonly::Server => "Make calls that only read.".to_string(),
        WhyReadonly::Config | WhyReadonly::Person => {
            "Make calls that only read, or ask the user: `phasegate access normal --for 30m`.".to_string()
        }
    };
    (format!("{tool} is not known to only read, and {whose}"), recovery)
}
