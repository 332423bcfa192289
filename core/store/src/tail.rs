//! The end of a journal: the last snapshot and the records that follow it.

use std::io;
use std::path::Path;

use phasegate_formats::context::Context;
use phasegate_formats::journal::{JOURNAL_VERSION, LineVersion};
use phasegate_formats::line::StateLine;

use crate::chain::{self, PREFIX_BYTES};
use crate::digest::{Digest, from_hex};
use crate::error::{StoreError, StoreErrorKind};
use crate::parts::parts;
use crate::state::JournalState;
use crate::store::{Medium, Store};

/// How many bytes of the end are read first.
const FIRST_READ_BYTES: u64 = 8 * 1024;

/// Where a journal stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Position {
    /// The chain hash of the last record; zeros for an empty journal.
    pub(crate) head: Digest,
    /// The number of the last record; 0 for an empty journal.
    pub(crate) seq: u64,
    /// When the last record was written, in milliseconds since 1970-01-01 UTC.
    pub(crate) time: i64,
    /// The offset at which the last complete record ends.
    pub(crate) end: u64,
    /// How many bytes of a torn record follow.
    pub(crate) torn: u64,
    /// The last snapshot; `None` if the next record must hold one.
    pub(crate) snapshot: Option<SnapshotPlace>,
    /// How many sealed parts come before the file.
    pub(crate) parts: u64,
    /// What the records so far have in common.
    pub(crate) context: Context,
}

/// Where the line of a snapshot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotPlace {
    /// The offset of its first byte.
    pub(crate) offset: u64,
    /// How many bytes the line has.
    pub(crate) length: u64,
    /// The number of its record.
    pub(crate) seq: u64,
}

/// The complete lines at the end of a journal, from the last snapshot on.
struct End {
    bytes: Vec<u8>,
    /// The offset of the first byte.
    offset: u64,
}

const BROKEN: &str = "is damaged: a record does not fit the one before it";

/// Reads where a journal stands and the state after its last record.
///
/// # Errors
///
/// `state-unreadable`: it cannot be read, or the chain of its end is broken. `state-version`: another version wrote it.
pub(crate) fn read<S: JournalState>(medium: &mut dyn Medium, path: &Path) -> Result<(Position, S), StoreError> {
    let broken = |what: &str| StoreError::new(StoreErrorKind::Unreadable, path, format!("`{}` {what}", path.display()));
    let length = medium.length();
    let window = last_complete(medium, length).map_err(|error| broken(&format!("cannot be read: {error}")))?;
    let end = window.end;
    let torn = length - end;
    if end == 0 {
        return Ok((Position { torn, ..Position::default() }, S::default()));
    }
    let lines = match find(medium, window) {
        Ok(Found::Lines(lines)) => lines,
        Ok(Found::Other(version)) => {
            return Err(StoreError::other_version(path, &format!("`{}`", path.display()), version));
        }
        Ok(Found::Broken(what)) => return Err(broken(what)),
        Err(error) => return Err(broken(&format!("cannot be read: {error}"))),
    };
    let (position, state) = follow(&lines).map_err(|what| broken(&what))?;
    Ok((Position { end, torn, ..position }, state))
}

/// As [`read`], of a journal whose file may have no record because its last part was sealed at that moment.
///
/// # Errors
///
/// As for [`read`].
pub(crate) fn read_after_parts<S: JournalState>(
    store: &dyn Store,
    medium: &mut dyn Medium,
    path: &Path,
) -> Result<(Position, S), StoreError> {
    let (found, state) = read(medium, path)?;
    if found.seq > 0 {
        return Ok((found, state));
    }
    let parts = parts(store, path);
    let Some(last) = parts.last() else { return Ok((found, state)) };
    let Some(mut medium) = store.view(last)? else { return Ok((found, state)) };
    let (sealed, state) = read(medium.as_mut(), last)?;
    if sealed.torn > 0 || sealed.seq == 0 {
        let message = format!("`{}` is damaged: it does not end with a record", last.display());
        return Err(StoreError::new(StoreErrorKind::Unreadable, last, message));
    }
    let position = Position { end: 0, torn: found.torn, snapshot: None, parts: parts.len() as u64, ..sealed };
    Ok((position, state))
}

/// The chain hash that the last complete line begins with.
pub(crate) fn last_hash(medium: &mut dyn Medium) -> io::Result<Option<Digest>> {
    let length = medium.length();
    let mut window = last_complete(medium, length)?;
    loop {
        let (line_start, line) = last_line(&window.bytes);
        if line_start > 0 || window.start == 0 {
            return Ok(chain::written_hash(line));
        }
        window.start = window.end.saturating_sub((window.end - window.start).saturating_mul(2));
        window.bytes = medium.read(window.start, window.end)?;
    }
}

/// The bytes up to the end of the last complete line.
fn last_complete(medium: &mut dyn Medium, length: u64) -> io::Result<Window> {
    let mut end = length;
    loop {
        let start = end.saturating_sub(FIRST_READ_BYTES);
        let mut bytes = medium.read(start, end)?;
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => {
                bytes.truncate(at + 1);
                return Ok(Window { bytes, start, end: start + at as u64 + 1 });
            }
            None if start == 0 => return Ok(Window { bytes: Vec::new(), start, end: 0 }),
            None => end = start,
        }
    }
}

enum Found {
    Lines(End),
    /// Another version wrote the last line.
    Other(u32),
    /// The lines cannot be those of a journal.
    Broken(&'static str),
}

/// Finds the last snapshot. `read` is what was read of the journal's end.
fn find(medium: &mut dyn Medium, read: Window) -> io::Result<Found> {
    let Window { mut bytes, mut start, end } = read;
    loop {
        let (line_start, line) = last_line(&bytes);
        if line_start == 0 && start > 0 {
            start = end.saturating_sub((end - start).saturating_mul(2));
            bytes = medium.read(start, end)?;
            continue;
        }
        let json = line.get(PREFIX_BYTES..).unwrap_or_default();
        let Some(version) = LineVersion::of(json) else { return Ok(Found::Broken(BROKEN)) };
        if version.v != JOURNAL_VERSION {
            return Ok(Found::Other(version.v));
        }
        return match (start + line_start as u64).checked_sub(version.back) {
            Some(offset) => from_snapshot(medium, Window { bytes, start, end }, offset),
            None => Ok(Found::Broken(BROKEN)),
        };
    }
}

/// Bytes of a journal, up to the end of its last complete line.
struct Window {
    bytes: Vec<u8>,
    start: u64,
    end: u64,
}

/// The last line without its end, and where it begins among the bytes.
fn last_line(bytes: &[u8]) -> (usize, &[u8]) {
    let complete = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = complete.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (start, complete.get(start..).unwrap_or_default())
}

/// The lines from a snapshot on, which begins at this offset.
fn from_snapshot(medium: &mut dyn Medium, window: Window, offset: u64) -> io::Result<Found> {
    let bytes = match offset.checked_sub(window.start).and_then(|at| usize::try_from(at).ok()) {
        Some(at) => {
            let mut bytes = window.bytes;
            bytes.drain(..at.min(bytes.len()));
            bytes
        }
        None => medium.read(offset, window.end)?,
    };
    Ok(Found::Lines(End { bytes, offset }))
}

/// Follows the chain to its end: the snapshot, then the changes.
fn follow<S: JournalState>(end: &End) -> Result<(Position, S), String> {
    let mut position = Position::default();
    let mut state = None;
    let mut offset = end.offset;
    // Text is parsed faster than bytes, of which each string is checked by itself.
    let lines = std::str::from_utf8(&end.bytes).map_err(|_| BROKEN)?;
    for line in lines.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let json = text.get(PREFIX_BYTES..).unwrap_or_default();
        let record: StateLine<'_, S::Change, S> =
            serde_json::from_str(json).map_err(|error| unknown_form(json.as_bytes(), &error))?;
        if state.is_none() {
            let before = record.prev.as_ref().and_then(|digits| from_hex(digits.as_bytes()));
            position.head = before.ok_or(BROKEN)?;
        }
        chain::link(&mut position.head, text.as_bytes()).ok_or(BROKEN)?;
        if position.seq != 0 && record.seq != position.seq + 1 {
            return Err("is damaged: a record is missing".to_string());
        }
        record.note(&mut position.context);
        (position.seq, position.time) = (record.seq, record.t);
        match (record.state, &mut state) {
            (Some(snapshot), state) => {
                *state = Some(snapshot);
                let length = line.len() as u64;
                position.parts = record.part;
                position.snapshot = Some(SnapshotPlace { offset, length, seq: record.seq });
            }
            (None, Some(state)) => record.changes.iter().for_each(|change| state.apply(change)),
            (None, None) => return Err(BROKEN.to_string()),
        }
        offset += line.len() as u64;
    }
    state.map(|state| (position, state)).ok_or_else(|| BROKEN.to_string())
}

/// What is wrong with a record that cannot be read: it is damaged, or its changes are not in a known form.
fn unknown_form(json: &[u8], error: &serde_json::Error) -> String {
    match LineVersion::of(json) {
        Some(_) => format!("has a record that is not in a known form: {error}"),
        None => BROKEN.to_string(),
    }
}
