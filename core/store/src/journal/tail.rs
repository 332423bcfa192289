//! Reading the end of a journal: back to the last whole state, then forward through the chain.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::scan;
use crate::digest::{Digest, from_hex};
use crate::error::{StoreError, StoreErrorKind};
use phasegate_formats::entry::FORMAT;
use phasegate_formats::merge_patch as patch;

/// How much of the end is read first, in bytes; doubled until a whole state is in it.
const FIRST_READ: u64 = 8 * 1024;
/// Length of the hash and the space before a record's JSON.
pub(super) const PREFIX: usize = 65;

/// Where a journal stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    /// The chain hash of the last record; zeros for an empty journal.
    pub(crate) head: Digest,
    /// The number of the last record; 0 for an empty journal.
    pub(crate) seq: u64,
    /// The state after the last record; null for an empty journal.
    pub(crate) state: Value,
    /// The policy version of the last record.
    pub(crate) policy: String,
    /// How many records follow the last one that holds the whole state.
    pub(crate) since_whole: u64,
    /// How many more bytes they may have together before the next one holds it again.
    pub(crate) room: usize,
    /// Where the last whole record ends, in bytes from the start of the file.
    pub(crate) end: u64,
    /// How many bytes of a torn record follow.
    pub(crate) torn: u64,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// A record, its state and its change still as text.
#[derive(Deserialize)]
struct Head<'a> {
    v: u32,
    seq: u64,
    policy: String,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    patch: Option<&'a RawValue>,
}

/// The end of a journal, from a record that holds the whole state.
struct End<'a> {
    /// The chain hash before its first record.
    before: Digest,
    /// The lines, each with its record; without one where it cannot be read.
    records: Vec<(&'a [u8], Option<Head<'a>>)>,
}

/// Reads where the journal stands. `length` is that of the file.
///
/// # Errors
///
/// `state-unreadable`: it cannot be read, or the chain of its end is broken. `state-version`: a record was written by a newer version.
pub(crate) fn read(file: &mut File, length: u64, path: &Path) -> Result<Tail, StoreError> {
    let broken = |what: &str| StoreError::new(StoreErrorKind::Unreadable, path, format!("`{}` {what}", path.display()));
    let failed = |error: std::io::Error| broken(&format!("cannot be read: {error}"));
    let mut window = FIRST_READ;
    loop {
        let start = length.saturating_sub(window);
        let mut bytes = Vec::with_capacity(usize::try_from(length - start).unwrap_or(0) + 1);
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        file.by_ref().take(length - start).read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = (bytes.len() - whole) as u64;
        let lines = lines(bytes.get(..whole).unwrap_or_default(), start > 0);
        if let Some(end) = from_whole_state(&lines, start == 0, path)? {
            let tail = follow(end).map_err(broken)?;
            return Ok(Tail { end: length - torn, torn, ..tail });
        }
        if start == 0 {
            return if whole == 0 {
                Ok(Tail { torn, ..Tail::default() })
            } else {
                Err(broken("holds no record with the whole state"))
            };
        }
        window = window.saturating_mul(2);
    }
}

/// The complete lines, without their ends; the first is left out where it may have begun before the window.
fn lines(bytes: &[u8], cut: bool) -> Vec<&[u8]> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .skip(usize::from(cut))
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
        .collect()
}

/// The lines from the last one on that holds the whole state and whose predecessor is known too.
fn from_whole_state<'a>(lines: &[&'a [u8]], from_start: bool, path: &Path) -> Result<Option<End<'a>>, StoreError> {
    let mut records = Vec::new();
    for (at, line) in lines.iter().enumerate().rev() {
        let json = line.get(PREFIX..).unwrap_or_default();
        let record = serde_json::from_slice::<Head<'_>>(json).ok();
        let format = match &record {
            Some(record) => record.v,
            None => serde_json::from_slice::<Version>(json).map_or(0, |version| version.v),
        };
        if format > FORMAT {
            let message = format!("`{}` has records of format {format}, this version reads {FORMAT}", path.display());
            return Err(StoreError::new(StoreErrorKind::NewerVersion, path, message));
        }
        let whole = record.as_ref().is_some_and(|record| record.state.is_some());
        records.push((*line, record));
        if whole && (at > 0 || from_start) {
            records.reverse();
            let before = match at.checked_sub(1).and_then(|at| lines.get(at)) {
                Some(line) => line.get(..64).and_then(from_hex),
                None => Some([0; 32]),
            };
            let broken = || StoreError::new(StoreErrorKind::Unreadable, path, format!("`{}` {BROKEN}", path.display()));
            return Ok(Some(End { before: before.ok_or_else(broken)?, records }));
        }
    }
    Ok(None)
}

const BROKEN: &str = "is damaged: a record does not fit the one before it";

/// Walks to the end, checking every link of the chain.
fn follow(end: End<'_>) -> Result<Tail, &'static str> {
    let mut tail = Tail { head: end.before, ..Tail::default() };
    for (line, record) in end.records {
        let json = scan::link(&mut tail.head, line).ok_or(BROKEN)?;
        let record = record.ok_or(BROKEN)?;
        if tail.seq != 0 && record.seq != tail.seq + 1 {
            return Err("is damaged: a record is missing");
        }
        match (record.state, record.patch) {
            (Some(state), _) => {
                tail.state = read_value(state)?;
                (tail.since_whole, tail.room) = (0, json.len());
            }
            (None, change) => {
                let change = change.map_or_else(|| Ok(Value::Object(serde_json::Map::new())), read_value)?;
                patch::apply(&mut tail.state, change);
                (tail.since_whole, tail.room) = (tail.since_whole + 1, tail.room.saturating_sub(json.len()));
            }
        }
        (tail.seq, tail.policy) = (record.seq, record.policy);
    }
    Ok(tail)
}

fn read_value(text: &RawValue) -> Result<Value, &'static str> {
    serde_json::from_str(text.get()).map_err(|_| BROKEN)
}
