//! What settings say of access and budgets, as written.

use phasegate_core::policy::Mode;
use phasegate_core::policy::budget::{Count, Per};
use serde::Deserialize;

use super::matcher::MatcherSource;

/// How much of something calls may use up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BudgetSource {
    /// What is counted.
    pub count: Count,
    /// With the count `reported`: where the number stands in results, as a JSON pointer.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 2)))]
    pub at: Option<String>,
    /// The calls that count.
    #[serde(default)]
    pub of: Vec<MatcherSource>,
    /// How much may be used up. Files are counted up to 256.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub limit: u64,
    /// Where it is counted.
    #[serde(default)]
    pub per: Option<Per>,
    /// After which time it is counted anew, from the first call that counts: `90s`, `30m`, `2h`, `7d`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 2)))]
    pub within: Option<String>,
    /// What more than that leads to. The stricter of this and the settings' `mode` holds.
    #[serde(default)]
    pub mode: Option<Mode>,
}
