//! Budgets: how much calls may use up, and how much they have (rules 4.8).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::tool::Call;
use crate::policy::matcher::Matcher;
use crate::policy::mode::Mode;
use crate::prelude::*;

/// The most budgets of a project.
pub const MAX_BUDGETS: usize = 16;
/// A reported 1: what results report is counted with six decimal places.
pub const UNIT: u64 = 1_000_000;
/// The most files that a budget counts.
pub const MAX_FILES: u64 = 256;

/// How much of something calls may use up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Its name.
    pub name: String,
    /// What is counted.
    pub count: Count,
    /// Where the number stands in results, as a JSON pointer, for [`Count::Reported`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
    /// The calls that count; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<Matcher>,
    /// How much may be used up.
    pub limit: u64,
    /// Where it is counted.
    pub per: Per,
    /// After how many milliseconds it is counted anew, from the first call that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<i64>,
    /// What more than that leads to.
    pub mode: Mode,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Count {
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

/// Where a budget is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Per {
    /// In each visit of a phase, for each live run.
    Phase,
    /// In each session, its subagents included.
    Session,
    /// In all sessions of the project together.
    Project,
}

/// How much of a budget is used up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tally {
    /// The name of the budget.
    pub budget: String,
    /// For a budget of phases: the id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// For a budget of phases: the number of the visit.
    #[serde(skip_serializing_if = "crate::values::is_default")]
    pub visit: u32,
    /// The time of the first call that counts, where the budget has a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// How much is used up; of what is reported, in millionths.
    pub spent: u64,
    /// The files that count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Budget {
    /// A count in the unit of the limit, rounded up.
    pub fn in_units(&self, spent: u64) -> u64 {
        if self.count == Count::Reported { spent.div_ceil(UNIT) } else { spent }
    }
}

/// The arguments that name what is written, or say what it was before.
const NOT_WRITTEN: [&str; 9] =
    ["file_path", "path", "filePath", "notebook_path", "old_string", "oldString", "oldText", "old_str", "description"];

/// The bytes of the texts that a call gives: all its texts but those that name a file or say what it held.
pub(crate) fn bytes(call: &Call) -> u64 {
    match call.analysis.redacted.as_ref().and_then(|before| before.bytes) {
        Some(bytes) => bytes,
        None => texts(&call.input),
    }
}

fn texts(value: &Value) -> u64 {
    match value {
        Value::String(text) => u64::try_from(text.len()).unwrap_or(u64::MAX),
        Value::Array(items) => items.iter().map(texts).fold(0, u64::saturating_add),
        Value::Object(fields) => {
            let counts = fields.iter().filter(|(name, _)| !NOT_WRITTEN.contains(&name.as_str()));
            counts.map(|(_, value)| texts(value)).fold(0, u64::saturating_add)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
