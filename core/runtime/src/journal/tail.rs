//! Reading the end of a journal: back to the last whole state, then forward through the chain.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::entry::FORMAT;
use super::patch;
use crate::digest::{Digest, from_hex, sha256};

/// How much of the end is read first, in bytes; doubled until a whole state is in it.
const FIRST_READ: u64 = 32 * 1024;
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
    /// Where the last whole record ends, in bytes from the start of the file.
    pub(crate) end: u64,
    /// How many bytes of a torn record follow.
    pub(crate) torn: u64,
}

#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// Whether a record holds the whole state, found without keeping any of it.
#[derive(Deserialize)]
struct Whole {
    v: u32,
    state: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Head {
    seq: u64,
    policy: String,
    state: Option<Value>,
    patch: Option<Value>,
}

/// Reads where the journal stands. `length` is that of the file.
///
/// # Errors
///
/// `state-unreadable`: it cannot be read, or the chain of its end is broken. `state-version`: a record was written by a newer version.
pub(crate) fn read(file: &mut File, length: u64, path: &Path) -> Result<Tail, Problem> {
    let broken = |what: &str| Problem::new(Code::StateUnreadable, format!("`{}` {what}", path.display()));
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
        if let Some(first) = last_whole_state(&lines, start == 0, path)? {
            let tail = follow(&lines, first).map_err(broken)?;
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

/// The last line that holds the whole state and whose predecessor is known too.
fn last_whole_state(lines: &[&[u8]], from_start: bool, path: &Path) -> Result<Option<usize>, Problem> {
    for (at, line) in lines.iter().enumerate().rev() {
        let json = line.get(PREFIX..).unwrap_or_default();
        let record = serde_json::from_slice::<Whole>(json);
        let format = match &record {
            Ok(record) => record.v,
            Err(_) => serde_json::from_slice::<Version>(json).map_or(0, |version| version.v),
        };
        if format > FORMAT {
            let message = format!("`{}` has records of format {format}, this version reads {FORMAT}", path.display());
            return Err(Problem::new(Code::StateVersion, message));
        }
        let whole = record.is_ok_and(|record| record.state.is_some());
        if whole && (at > 0 || from_start) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Walks from the line `first` to the end, checking every link of the chain.
fn follow(lines: &[&[u8]], first: usize) -> Result<Tail, &'static str> {
    const BROKEN: &str = "is damaged: a record does not fit the one before it";
    let before = first.checked_sub(1).and_then(|at| lines.get(at));
    let mut tail = Tail {
        head: before.map_or(Some([0; 32]), |line| line.get(..64).and_then(from_hex)).ok_or(BROKEN)?,
        ..Tail::default()
    };
    for line in lines.iter().skip(first) {
        let (written, json) = line.split_at_checked(PREFIX).ok_or(BROKEN)?;
        let hash = sha256(&[&tail.head, json]);
        if written.get(..64).and_then(from_hex) != Some(hash) {
            return Err(BROKEN);
        }
        let record: Head = serde_json::from_slice(json).map_err(|_| BROKEN)?;
        if tail.seq != 0 && record.seq != tail.seq + 1 {
            return Err("is damaged: a record is missing");
        }
        match (record.state, record.patch) {
            (Some(state), _) => {
                tail.state = state;
                tail.since_whole = 0;
            }
            (None, change) => {
                patch::apply(&mut tail.state, change.unwrap_or_else(|| Value::Object(serde_json::Map::new())));
                tail.since_whole += 1;
            }
        }
        (tail.head, tail.seq, tail.policy) = (hash, record.seq, record.policy);
    }
    Ok(tail)
}
