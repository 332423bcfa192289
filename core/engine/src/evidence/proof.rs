//! What the outcome of a call proves (rules 3.3).

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prelude::*;
use crate::state::Uncounted;

/// What the outcome of a call means to one run in which it was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proved {
    /// The id of the run.
    pub run: String,
    /// The index of the phase in which the call was decided.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub phase: usize,
    /// The number of the visit in which it was decided.
    pub visit: u32,
    /// The numbers of the conditions that it proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atoms: Vec<u32>,
    /// For those of them that name a fact that has to be as it was: its value then; `null` if it was unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub as_of: BTreeMap<u32, Value>,
    /// For those of them, proven or undone, that compare what a call is about: the values of each comparison.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<u32, Vec<Vec<String>>>,
    /// The numbers of the conditions that do not hold any more, as the newest call ended otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<u32>,
    /// What it means to the visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit_is: Option<VisitIs>,
    /// The conditions that it is about and did not prove, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<Uncounted>,
}

/// What the outcome of a call means to a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VisitIs {
    /// A call of the present visit succeeded: the run cannot return to the phase before.
    Settled,
    /// A result of the present visit is a failure.
    Failed,
    /// A result of the present visit is a success, after a failure. The run cannot return either.
    Recovered,
    /// A call of the visit that the run could return to failed.
    EarlierFailed,
}
