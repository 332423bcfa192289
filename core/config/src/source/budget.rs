//! What settings say of access and budgets, as written.

use phasegate_core::policy::access;
use phasegate_core::policy::budget;
use serde::Deserialize;

use super::choices::ModeSource;
use super::matcher::MatcherSource;

/// What calls may do at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccessSource {
    /// What skills, rules and budgets allow.
    Normal,
    /// Only calls that are known to only read.
    Readonly,
    /// As `normal`, and no budget holds. Only a person sets it, for a stated time: `phasegate access admin --for 30m`.
    Admin,
}

impl From<AccessSource> for access::AccessMode {
    fn from(source: AccessSource) -> Self {
        match source {
            AccessSource::Normal => Self::Normal,
            AccessSource::Readonly => Self::Readonly,
            AccessSource::Admin => Self::Admin,
        }
    }
}

/// How much of something calls may use up.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BudgetSource {
    /// What is counted.
    pub count: CountSource,
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
    pub per: Option<PerSource>,
    /// After which time it is counted anew, from the first call that counts: `90s`, `30m`, `2h`, `7d`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 2)))]
    pub within: Option<String>,
    /// What more than that leads to. The stricter of this and the settings' `mode` holds.
    #[serde(default)]
    pub mode: Option<ModeSource>,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// Calls.
    Calls,
    /// Calls that write or remove files.
    Edits,
    /// Different files that calls write or remove.
    Files,
    /// The bytes of the texts that such calls give.
    Bytes,
    /// A number that the results of calls report.
    Reported,
}

impl From<CountSource> for budget::Count {
    fn from(source: CountSource) -> Self {
        match source {
            CountSource::Calls => Self::Calls,
            CountSource::Edits => Self::Edits,
            CountSource::Files => Self::Files,
            CountSource::Bytes => Self::Bytes,
            CountSource::Reported => Self::Reported,
        }
    }
}

/// Where a budget is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PerSource {
    /// In each visit of a phase, for each live run.
    Phase,
    /// In each session, its subagents included.
    Session,
    /// In all sessions of the project together.
    Project,
}

impl From<PerSource> for budget::Per {
    fn from(source: PerSource) -> Self {
        match source {
            PerSource::Phase => Self::Phase,
            PerSource::Session => Self::Session,
            PerSource::Project => Self::Project,
        }
    }
}
