//! Denial reasons: why a call is not admitted, as data that programs read.
//!
//! Each kind has a canonical JSON form: keys sorted, no spaces, numbers as decimal text. [`DenialReason::parse`] reads
//! exactly that data and nothing else: an unknown kind, an unknown, missing or repeated key, and a number in another form
//! are errors. Kinds are only ever added, so a `match` outside of this crate has an arm for the others.
//!
//! | kind | what produces it |
//! |---|---|
//! | `no_rule_matched` | the rules, where the policy denies what no rule permits |
//! | `budget` | the budgets |
//! | `policy` | the phases of a skill, the access and every other gate: `policy_id` is the code of the denial; a rule of that kind |
//! | `rule_version_mismatch` | the stage, where the request states another version than the guard has |
//! | `rule_rejected` | the rules; and the stage, where the guard failed |
//! | `effect_invariant_violated`, `axiom_violation`, `ambiguous_ruleset` | a rule that says so of itself (`@kind`) |

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prelude::*;

/// Why a call is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum DenialReason {
    /// No rule permits the call.
    NoRuleMatched {},
    /// A budget is spent.
    Budget {
        /// The name of the budget.
        which: String,
        /// How much it allows.
        #[serde(with = "decimal")]
        limit: u64,
        /// How much there would be with the call.
        #[serde(with = "decimal")]
        observed: u64,
        /// When it is counted anew; absent where that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets: Option<Resets>,
    },
    /// What an effect may never do.
    EffectInvariantViolated {
        /// The name of the invariant.
        invariant: String,
    },
    /// An axiom of the rules.
    AxiomViolation {
        /// Its id, for example `AX-01`.
        axiom_id: String,
    },
    /// A policy outside the rules.
    Policy {
        /// The id of the policy.
        policy_id: String,
        /// What it says.
        policy_reason: String,
    },
    /// The rules are not those that the caller was told of.
    RuleVersionMismatch {
        /// The version that the request states.
        expected: String,
        /// The version of the rules.
        actual: String,
    },
    /// Several rules match, and none comes first.
    AmbiguousRuleset {},
    /// A rule denies the call, or could not be evaluated.
    RuleRejected {
        /// The name of the rule.
        rule_name: String,
        /// What it says.
        rule_reason: String,
    },
}

/// When a budget is counted anew. Written as `phase`, `session`, `never` or as milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Resets {
    /// When the phase is left.
    Phase,
    /// When the session ends.
    Session,
    /// When a person changes it.
    Never,
    /// At this time, in milliseconds since 1970-01-01 UTC.
    At(u64),
}

impl From<Resets> for String {
    fn from(resets: Resets) -> Self {
        match resets {
            Resets::Phase => "phase".into(),
            Resets::Session => "session".into(),
            Resets::Never => "never".into(),
            Resets::At(time) => time.to_string(),
        }
    }
}

impl TryFrom<String> for Resets {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "phase" => Ok(Self::Phase),
            "session" => Ok(Self::Session),
            "never" => Ok(Self::Never),
            other => {
                decimal::of(other).map(Self::At).ok_or_else(|| format!("`{other}` is no time at which a budget resets"))
            }
        }
    }
}

/// Whole numbers as decimal text: readers whose numbers are floating point lose no digit.
mod decimal {
    use alloc::format;
    use alloc::string::{String, ToString as _};

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        of(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is no whole number")))
    }

    /// The number, if the text is how it is written.
    pub(super) fn of(text: &str) -> Option<u64> {
        text.parse().ok().filter(|number: &u64| number.to_string() == text)
    }
}

impl DenialReason {
    /// Every kind, in the order of this file.
    pub const KINDS: [&'static str; 8] = [
        "no_rule_matched",
        "budget",
        "effect_invariant_violated",
        "axiom_violation",
        "policy",
        "rule_version_mismatch",
        "ambiguous_ruleset",
        "rule_rejected",
    ];

    /// No rule permits the call.
    pub const fn no_rule_matched() -> Self {
        Self::NoRuleMatched {}
    }

    /// A budget allows less than there would be with the call. `resets` may be `None`.
    pub fn budget(which: impl Into<String>, limit: u64, observed: u64, resets: impl Into<Option<Resets>>) -> Self {
        Self::Budget { which: which.into(), limit, observed, resets: resets.into() }
    }

    /// An effect would violate this invariant.
    pub fn effect_invariant_violated(invariant: impl Into<String>) -> Self {
        Self::EffectInvariantViolated { invariant: invariant.into() }
    }

    /// The call violates this axiom.
    pub fn axiom_violation(axiom_id: impl Into<String>) -> Self {
        Self::AxiomViolation { axiom_id: axiom_id.into() }
    }

    /// This policy denies the call, and why.
    pub fn policy(policy_id: impl Into<String>, policy_reason: impl Into<String>) -> Self {
        Self::Policy { policy_id: policy_id.into(), policy_reason: policy_reason.into() }
    }

    /// The request states one version, and the rules have another.
    pub fn rule_version_mismatch(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self::RuleVersionMismatch { expected: expected.into(), actual: actual.into() }
    }

    /// Several rules match, and none comes first.
    pub const fn ambiguous_ruleset() -> Self {
        Self::AmbiguousRuleset {}
    }

    /// This rule denies the call, and why.
    pub fn rule_rejected(rule_name: impl Into<String>, rule_reason: impl Into<String>) -> Self {
        Self::RuleRejected { rule_name: rule_name.into(), rule_reason: rule_reason.into() }
    }

    /// The word of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoRuleMatched {} => "no_rule_matched",
            Self::Budget { .. } => "budget",
            Self::EffectInvariantViolated { .. } => "effect_invariant_violated",
            Self::AxiomViolation { .. } => "axiom_violation",
            Self::Policy { .. } => "policy",
            Self::RuleVersionMismatch { .. } => "rule_version_mismatch",
            Self::AmbiguousRuleset {} => "ambiguous_ruleset",
            Self::RuleRejected { .. } => "rule_rejected",
        }
    }

    /// The canonical JSON.
    pub fn canonical(&self) -> String {
        let fields = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields.into_iter().collect(),
            _ => BTreeMap::new(),
        };
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Reads a reason.
    ///
    /// # Errors
    ///
    /// The text is not the JSON of a reason: the message says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The sentence that people and agents read. `tests/reasons.rs` pins it.
    pub fn render(&self) -> String {
        match self {
            Self::NoRuleMatched {} => "no rule permits this call".into(),
            Self::Budget { which, limit, observed, resets } => {
                let when = resets.map(|resets| format!("; {}", resets.words())).unwrap_or_default();
                format!(
                    "the budget \"{which}\" is spent: with this call it would be {observed} of at most {limit}{when}"
                )
            }
            Self::EffectInvariantViolated { invariant } => {
                format!("an effect would violate the invariant \"{invariant}\"")
            }
            Self::AxiomViolation { axiom_id } => format!("the call violates axiom {axiom_id}"),
            Self::Policy { policy_id, policy_reason } => format!("policy {policy_id} denies the call: {policy_reason}"),
            Self::RuleVersionMismatch { expected, actual } => {
                format!(
                    "the rules have changed: the request is for version {expected}, the rules have version {actual}"
                )
            }
            Self::AmbiguousRuleset {} => "several rules match the call, and none comes first".into(),
            Self::RuleRejected { rule_name, rule_reason } => format!("rule {rule_name} denies the call: {rule_reason}"),
        }
    }
}

impl core::fmt::Display for DenialReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.render())
    }
}

impl Resets {
    /// When, in words.
    pub fn words(self) -> String {
        match self {
            Self::Phase => "it resets when the phase is left".into(),
            Self::Session => "it resets when the session ends".into(),
            Self::Never => "it does not reset by itself".into(),
            Self::At(time) => format!("it resets at {}", utc(time)),
        }
    }
}

/// A time in milliseconds since 1970-01-01 UTC, as a date and time of day in UTC; seconds are rounded up.
fn utc(time: u64) -> String {
    let seconds = time.div_ceil(1000);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The calendar repeats every 400 years, which have 146,097 days; its years begin with March, so that a leap day is last.
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era.saturating_mul(400) + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}
