//! Version 1 of the journal: a record holds the state after it, whole or as a JSON merge patch.
//!
//! This program reads version 1 and no longer writes it. The first record that it appends to such a journal is of
//! version 2 and holds a snapshot.

use std::borrow::Cow;

use phasegate_core::{Decision, Facts};
use serde::Deserialize;
use serde_json::Value;

use crate::journal::{Entry, Record};

/// A record as it is read for its state alone.
#[derive(Debug, Deserialize)]
pub struct StateLine<'a> {
    /// The number of the record.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub time: i64,
    /// The version of the policy.
    #[serde(borrow)]
    pub policy: Cow<'a, str>,
    /// The whole state after the record.
    #[serde(default)]
    pub state: Option<Value>,
    /// The change of the state, as a merge patch against the state before.
    #[serde(default)]
    pub patch: Option<Value>,
}

/// Whether the record holds the whole state; without a copy of it.
#[must_use]
pub fn is_snapshot(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        state: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Probe>(json).is_ok_and(|probe| probe.state.is_some())
}

#[derive(Deserialize)]
struct WholeLine {
    seq: u64,
    time: i64,
    engine: String,
    policy: String,
    #[serde(default)]
    event: Value,
    #[serde(default)]
    facts: Facts,
    #[serde(default)]
    decision: Option<Decision>,
    #[serde(default)]
    records: Vec<phasegate_core::Record>,
    #[serde(default)]
    problem: Option<Value>,
    #[serde(default)]
    project_seq: Option<u64>,
    #[serde(default)]
    cut: Option<u64>,
    #[serde(default)]
    unsealed: bool,
    #[serde(default)]
    state: Option<Value>,
    #[serde(default)]
    patch: Option<Value>,
}

/// How a record of version 1 says what state it leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum StateAfter {
    /// As a whole.
    Whole(Value),
    /// As a merge patch against the state before.
    Patch(Value),
}

/// Reads a whole record and how it says which state it leaves; `None` in place of that if it does not say so.
///
/// # Errors
///
/// The JSON is no record of this version.
pub fn read<C>(json: &[u8]) -> serde_json::Result<(Record<C>, Option<StateAfter>)> {
    let line: WholeLine = serde_json::from_slice(json)?;
    let entry = Entry {
        time: line.time,
        engine: line.engine,
        policy: line.policy,
        event: line.event,
        facts: line.facts,
        decision: line.decision,
        changes: Vec::new(),
        problem: line.problem,
        project_seq: line.project_seq,
    };
    let record = Record {
        version: 1,
        seq: line.seq,
        entry,
        records: line.records,
        cut: line.cut.unwrap_or_default(),
        unsealed: line.unsealed,
    };
    let after = match (line.state, line.patch) {
        (Some(state), None) => Some(StateAfter::Whole(state)),
        (None, Some(patch)) => Some(StateAfter::Patch(patch)),
        _ => None,
    };
    Ok((record, after))
}
