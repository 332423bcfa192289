//! The record of a journal: the value, and the version of its written form.

use phasegate_core::{Decision, Facts};
use serde::Deserialize;
use serde_json::Value;

/// The version of the written form: the only one that this program writes and reads.
pub const JOURNAL_VERSION: u32 = 3;

/// What one event led to, without its place in the journal. `C` is a change of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<C> {
    /// The time of the decision, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The version of phasegate that decided.
    pub engine: String,
    /// The version of the policy that was in use; empty if none could be used.
    pub policy: String,
    /// The event, with a digest in place of each long text. For an unreadable frame, the frame's digest and length.
    pub event: Value,
    /// The facts that were used.
    pub facts: Facts,
    /// The answer, if the event asks for one.
    pub decision: Option<Decision>,
    /// What changes in the state, in order.
    pub changes: Vec<C>,
    /// The reason why there is no decision: code and message.
    pub problem: Option<Value>,
    /// The number of the project's last record at that time.
    pub project_seq: Option<u64>,
}

impl<C> Default for Entry<C> {
    fn default() -> Self {
        Self {
            time: 0,
            engine: String::new(),
            policy: String::new(),
            event: Value::Null,
            facts: Facts::new(),
            decision: None,
            changes: Vec::new(),
            problem: None,
            project_seq: None,
        }
    }
}

/// A record as it was read back: an entry and its place in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<C> {
    /// The number of the record, from 1.
    pub seq: u64,
    /// What the event led to.
    pub entry: Entry<C>,
    /// How many bytes of a torn record were cut off before this record was written.
    pub cut: u64,
    /// Whether the mtime fingerprint did not fit, so that the whole chain was read before this record was written.
    pub unsealed: bool,
}

/// The version of a line, read before anything else of it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LineVersion {
    /// The version of the written form.
    pub v: u32,
    /// How many bytes before this line the line of the last snapshot begins; 0 on a snapshot itself.
    #[serde(default)]
    pub back: u64,
}

impl LineVersion {
    /// The version of a line's JSON; `None` if it is no record.
    pub fn of(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}
