//! The records of a journal as values, from the first to the last.

use std::ops::ControlFlow;
use std::path::Path;

use phasegate_adapter::Problem;
use phasegate_core::{Code, Decision, Facts, Record};
use serde::Deserialize;
use serde_json::Value;

use crate::journal::scan::Scan;

/// One record of a journal, as it was written; the state after it is left out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Past {
    /// Its number, from 1.
    pub seq: u64,
    /// Milliseconds since 1970-01-01 UTC at which the event was decided.
    pub time: i64,
    /// The version of phasegate that decided.
    pub engine: String,
    /// The version of the policy it was decided by; empty: none could be used.
    pub policy: String,
    /// The event, long texts replaced by digests; for a frame that stands for none, its digest and length.
    #[serde(default)]
    pub event: Value,
    /// The facts that were used.
    #[serde(default)]
    pub facts: Facts,
    /// What was answered at most.
    #[serde(default)]
    pub decision: Option<Decision>,
    /// What changed.
    #[serde(default)]
    pub records: Vec<Record>,
    /// Why there was no decision: code and message.
    #[serde(default)]
    pub problem: Option<Value>,
    /// The number of the project's last record once this was decided.
    #[serde(default)]
    pub project_seq: Option<u64>,
    /// How many bytes of a torn record were cut off before this one.
    #[serde(default)]
    pub cut: Option<u64>,
}

/// A record, with the state on both sides of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    /// The record.
    pub past: Past,
    /// The state before it; null before the first.
    pub before: Value,
    /// The state after it.
    pub after: Value,
}

/// Walks through the records of a journal until `visit` has enough. Nothing is written, and no lock is taken.
///
/// # Errors
///
/// `state-missing`: there is no such file. `state-unreadable`, `state-version`: of the records up to the one that the
/// problem names, all were visited.
pub fn walk(path: &Path, mut visit: impl FnMut(Past) -> ControlFlow<()>) -> Result<(), Problem> {
    for record in Scan::open(path)? {
        let record = record?;
        if visit(past(path, record.seq, record.body)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// The record with this number, and the state on both sides of it; `None` if the journal has fewer.
///
/// # Errors
///
/// As for [`walk`].
pub fn around(path: &Path, seq: u64) -> Result<Option<Around>, Problem> {
    let mut scan = Scan::open(path)?;
    let mut before = Value::Null;
    while let Some(record) = scan.next() {
        let record = record?;
        if record.seq == seq {
            let past = past(path, seq, record.body)?;
            return Ok(Some(Around { past, before, after: scan.state().clone() }));
        }
        if record.seq + 1 == seq {
            before.clone_from(scan.state());
        }
    }
    Ok(None)
}

fn past(path: &Path, seq: u64, body: serde_json::Map<String, Value>) -> Result<Past, Problem> {
    serde_json::from_value(Value::Object(body)).map_err(|error| {
        let text = format!("record {seq} of `{}` is not in a known form: {error}", path.display());
        Problem::new(Code::StateUnreadable, text)
    })
}
