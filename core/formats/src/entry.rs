//! One record of a journal, as it is written.

use phasegate_core::{Decision, Facts, Record};
use serde::Serialize;
use serde_json::Value;

use crate::merge_patch::Patch;

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// What one event led to, without its place in the journal.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Entry {
    /// Milliseconds since 1970-01-01 UTC at which the event was decided.
    pub time: i64,
    /// The version of phasegate that decided.
    pub engine: &'static str,
    /// The version of the policy the decision was made by; empty: none could be used, the next event looks again.
    pub policy: String,
    /// The event, long texts replaced by digests; for a frame that could not be read, its digest and length.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub event: Value,
    /// The facts that were used.
    #[serde(skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// What was answered at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Record>,
    /// Why there was no decision: code and message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Value>,
    /// The number of the project's last record when this was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_seq: Option<u64>,
}

/// A record as it is written: an [`Entry`] with its place and the state after it.
#[derive(Serialize)]
pub struct Line<'a> {
    /// The format, [`FORMAT`].
    pub v: u32,
    /// The number of the record, from 1.
    pub seq: u64,
    /// What the event led to.
    #[serde(flatten)]
    pub entry: &'a Entry,
    /// How many bytes of a torn record were cut off before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<u64>,
    /// Whether the seal did not fit, and the whole chain was read before this record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unsealed: bool,
    /// The whole state after the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a Value>,
    /// The change of the state, as a merge patch against the state before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch<'a>>,
}
