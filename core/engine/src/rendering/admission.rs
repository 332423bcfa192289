//! What a reason says that a rule or a budget gives.

use alloc::format;
use alloc::string::{String, ToString as _};

use super::{Rendered, by_remedy};
use crate::code::Code;
use crate::decision::Gate;
use crate::denial::WhyReadonly;
use crate::reason::DenialReason;

pub(super) fn rendered(why: &DenialReason) -> Rendered {
    let (gate, code) = match why {
        DenialReason::NoRuleMatched {} => (Gate::Rules, Code::NoRuleMatched),
        DenialReason::Budget { .. } => (Gate::Budget, Code::BudgetSpent),
        DenialReason::EffectInvariantViolated { .. } => (Gate::Rules, Code::EffectInvariantViolated),
        DenialReason::AxiomViolation { .. } => (Gate::Rules, Code::AxiomViolation),
        DenialReason::Policy { .. } => (Gate::Rules, Code::PolicyDenied),
        DenialReason::RuleVersionMismatch { .. } => (Gate::Version, Code::RuleVersionMismatch),
        DenialReason::AmbiguousRuleset {} => (Gate::Rules, Code::AmbiguousRuleset),
        DenialReason::RuleRejected { .. } => (Gate::Rules, Code::RuleRejected),
    };
    match why {
        DenialReason::Budget { .. } => Rendered { gate, code, reason: why.render(), recovery: more() },
        _ => by_remedy(gate, code, why.render()),
    }
}

/// How to get on where a budget is spent.
fn more() -> String {
    "Go on without such calls until then, or ask the user: `phasegate access admin --for 30m` lifts all budgets for that \
     time."
        .to_string()
}

/// What a denial says of a call that does more than read.
pub(super) fn readonly(tool: &str, why: WhyReadonly) -> Rendered {
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
    let reason = format!("{tool} is not known to only read, and {whose}");
    Rendered { gate: Gate::Access, code: Code::Readonly, reason, recovery }
}
