//! The journal: an append-only file of hash-chained records that is audit trail and state at once (rules 8).
//!
//! A line is 64 hexadecimal digits, a space and a JSON object. The digits are the SHA-256 digest of the 32 bytes that
//! the line before has as digits (zeros for the first line), followed by the JSON. Every record holds the state after
//! it, whole or as a merge patch, so that the state can be rebuilt without deciding anything again.

mod held;
pub mod scan;
mod tail;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use phasegate_formats::entry::Line;
pub use phasegate_formats::entry::{Entry, FORMAT};
use phasegate_formats::merge_patch::{self as patch, Patch};
use serde_json::Value;

use held::Held;
pub use held::{Mark, Rest};
use tail::Tail;

use crate::active_disk::disk;
use crate::deadline::Deadline;
use crate::digest::{Digest, hex, sha256};
use crate::disk::Disk as _;
use crate::error::{StoreError, StoreErrorKind};
use crate::fingerprint as seal;
use crate::lock::{check_lock, lock};
use crate::ownership::open_own;

/// A record with the whole state comes at the latest after so many without, and as soon as they are together as large as
/// the last one with it: what a hook reads stays about as long as the state.
const WHOLE_EVERY: u64 = 15;

/// A journal whose lock is held; it is released when the value goes.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    tail: Tail,
    /// Whether the seal did not fit, so that the whole chain was read; the next record says so.
    unsealed: bool,
    /// Whether a record could not be written: where the file ends is not known any more.
    failed: bool,
    /// What was appended and is still to be written, where records are held back; else each is written at once.
    held: Option<Held>,
    /// How the file was after that was written, or when it was opened.
    left: Option<Mark>,
}

/// A record that is to be written.
struct NewLine {
    /// Its chain hash.
    head: Digest,
    bytes: Vec<u8>,
    /// How many of the bytes are its JSON.
    json: usize,
    /// Whether it holds the whole state.
    whole: bool,
}

/// The last whole record of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Last {
    /// Its number, from 1.
    pub seq: u64,
    /// Its chain hash, as 64 hexadecimal digits.
    pub head: String,
    /// The version of the policy it was decided by.
    pub policy: String,
    /// The state after it.
    pub state: Value,
}

/// Whether a record must be on the disk before the answer goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It must: what it changes is asked about later.
    Synced,
    /// It need only be written: it is history.
    Written,
}

/// The last whole record of a journal, read without its lock; `None` if there is none.
///
/// # Errors
///
/// `state-unreadable` or `state-version`, as the file's end shows; `state-exposed`: it is not the user's own.
pub fn read_last(path: &Path) -> Result<Option<Last>, StoreError> {
    let mut file = match open_own(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let length = file.metadata().map_err(|error| unreadable(path, &error))?.len();
    Ok(last(&tail::read(&mut file, length, path)?))
}

/// The event of the last record that fits, among those that the last `window` bytes hold; read without the lock.
///
/// # Errors
///
/// The file cannot be read.
pub fn last_event(path: &Path, window: u64, fits: impl Fn(&Value) -> bool) -> io::Result<Option<Value>> {
    #[derive(serde::Deserialize)]
    struct Event {
        #[serde(default)]
        event: Value,
    }
    let mut file = open_own(path, OpenOptions::new().read(true))?;
    let start = file.metadata()?.len().saturating_sub(window);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(window).read_to_end(&mut bytes)?;
    let events = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| {
        let record: Event = serde_json::from_slice(line.get(tail::PREFIX..)?).ok()?;
        Some(record.event)
    });
    Ok(events.into_iter().find(fits))
}

fn last(tail: &Tail) -> Option<Last> {
    (tail.seq > 0).then(|| Last {
        seq: tail.seq,
        head: hex(&tail.head),
        policy: tail.policy.clone(),
        state: tail.state.clone(),
    })
}

impl Journal {
    /// Opens a journal, makes it if it does not exist, waits for its lock and reads where it stands. A torn last
    /// record is cut off and mentioned in the next. If the seal does not fit, the whole chain is read.
    ///
    /// # Errors
    ///
    /// `state-busy`: the lock was held until half of the deadline was gone. `state-unreadable`, `state-version`: as
    /// the file shows, or it cannot be opened. `state-exposed`: it is not the user's own. `state-disk`: the file system
    /// has no locks.
    pub fn open(path: &Path, deadline: &Deadline) -> Result<Self, StoreError> {
        let (file, data) = open_locked(path, deadline)?;
        Self::read(file, &data, path)
    }

    /// Reads where a journal stands whose lock is held.
    fn read(mut file: File, data: &Metadata, path: &Path) -> Result<Self, StoreError> {
        if data.len() == 0 {
            check_lock(path)?;
        }
        let tail = tail::read(&mut file, data.len(), path)?;
        let unsealed = data.len() > 0 && (tail.torn > 0 || !seal::fits(data, &tail.head));
        let mut journal =
            Self { file, path: path.to_path_buf(), tail, unsealed, failed: false, held: None, left: None };
        if unsealed {
            journal.check_chain()?;
            journal.mend().map_err(|error| unreadable(path, &error))?;
        }
        Ok(journal)
    }

    /// Reads the whole chain, because someone else may have written to the file.
    fn check_chain(&mut self) -> Result<(), StoreError> {
        let path = self.path.display();
        let walked = scan::chain(&mut self.file, self.tail.end).map_err(|error| unreadable(&self.path, &error))?;
        let message = match walked {
            Ok(found) if found == (self.tail.seq, self.tail.head) => return Ok(()),
            Ok((count, _)) => {
                format!("`{path}` is damaged: it has {count} records, the last is number {}", self.tail.seq)
            }
            Err(record) => format!("`{path}` is damaged: record {record} was changed, or one before it was"),
        };
        Err(StoreError::new(StoreErrorKind::Unreadable, &self.path, message))
    }

    /// Cuts off a torn record, and seals the journal anew.
    fn mend(&self) -> io::Result<()> {
        if self.tail.torn > 0 {
            tracing::warn!(path = %self.path.display(), bytes = self.tail.torn, "a torn record is cut off");
            disk().cut(&self.file, &self.path, self.tail.end)?;
        }
        self.seal();
        Ok(())
    }

    /// Seals the journal with its last record. Where that fails, the next to open it reads the whole chain.
    fn seal(&self) {
        let time = seal::time(&self.tail.head, disk().now());
        if let Err(error) = disk().stamp(&self.file, &self.path, time) {
            tracing::warn!(path = %self.path.display(), %error, "the journal cannot be sealed");
        }
    }

    /// The last record; `None` in an empty journal.
    #[must_use]
    pub fn last(&self) -> Option<Last> {
        last(&self.tail)
    }

    /// The state after the last record; `None` in an empty journal.
    #[must_use]
    pub fn state(&self) -> Option<&Value> {
        (self.tail.seq > 0).then_some(&self.tail.state)
    }

    /// The version of the policy that the last record was decided by; empty in an empty journal.
    #[must_use]
    pub fn policy(&self) -> &str {
        &self.tail.policy
    }

    /// The number of the last record; 0 in an empty journal.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.tail.seq
    }

    /// The chain hash of the last record, as 64 hexadecimal digits.
    #[must_use]
    pub fn head(&self) -> String {
        hex(&self.tail.head)
    }

    /// Makes every record so far durable.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-disk`: that cannot be.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.holds() {
            return self.write_held(true);
        }
        disk().sync(&self.file, &self.path).map_err(|error| self.not_saved(&error))
    }

    /// Appends a record, with `state` as the state after it. The first record of a journal is always durable. Where
    /// records are held back, nothing but the first is written yet.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: it could not be written, or not be made durable. `state-disk`: nothing can be made durable
    /// on this file system.
    pub fn append(&mut self, entry: &Entry, state: Value, durability: Durability) -> Result<(), StoreError> {
        let difference = self.may_patch().then(|| patch::difference(&self.tail.state, &state)).flatten();
        let bytes = self.line(entry, (difference.is_none().then_some(&state), difference))?;
        self.put(entry, &bytes, durability)?;
        self.tail.state = state;
        Ok(())
    }

    /// As [`Journal::append`], with the change of the state as a merge patch.
    ///
    /// # Errors
    ///
    /// As for [`Journal::append`].
    pub fn append_patch(&mut self, entry: &Entry, patch: Value, durability: Durability) -> Result<(), StoreError> {
        if !self.may_patch() {
            let mut state = self.tail.state.clone();
            patch::apply(&mut state, patch);
            return self.append(entry, state, durability);
        }
        let bytes = self.line(entry, (None, Some(Patch::Set(&patch))))?;
        self.put(entry, &bytes, durability)?;
        patch::apply(&mut self.tail.state, patch);
        Ok(())
    }

    /// Whether the next record may say what changes, in place of the whole state.
    fn may_patch(&self) -> bool {
        self.tail.seq > 0 && self.tail.since_whole < WHOLE_EVERY && self.tail.room > 0
    }

    /// A record as a line, and whether it holds the whole state.
    fn line(&self, entry: &Entry, (state, patch): (Option<&Value>, Option<Patch<'_>>)) -> Result<NewLine, StoreError> {
        let cut = Some(self.tail.torn).filter(|bytes| *bytes > 0);
        let (unsealed, whole) = (self.unsealed, state.is_some());
        let line = Line { v: FORMAT, seq: self.tail.seq + 1, entry, cut, unsealed, state, patch };
        let json = serde_json::to_vec(&line).map_err(|error| self.not_saved(&error.into()))?;
        let head = sha256(&[&self.tail.head, &json]);
        let mut bytes = hex(&head).into_bytes();
        bytes.push(b' ');
        bytes.extend_from_slice(&json);
        bytes.push(b'\n');
        Ok(NewLine { head, bytes, json: json.len(), whole })
    }

    /// Writes a line, or holds it back, and goes on from there; the state after it is still to be set.
    fn put(&mut self, entry: &Entry, line: &NewLine, durability: Durability) -> Result<(), StoreError> {
        if self.failed {
            return Err(self.not_saved(&io::Error::other("a record before could not be written")));
        }
        self.failed = true;
        let held = self.tail.seq > 0 && self.hold(&line.bytes, durability);
        if !held {
            self.write(&line.bytes, durability).map_err(|error| self.not_saved(&error))?;
        }
        self.failed = false;
        self.unsealed = false;
        let tail = &mut self.tail;
        (tail.head, tail.seq, tail.torn) = (line.head, tail.seq + 1, 0);
        tail.policy.clone_from(&entry.policy);
        tail.since_whole = if line.whole { 0 } else { tail.since_whole + 1 };
        tail.room = if line.whole { line.json } else { tail.room.saturating_sub(line.json) };
        tail.end += line.bytes.len() as u64;
        if !held {
            self.seal();
            self.note_left();
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let written = self.write_durably(bytes, durability);
        if written.is_err() {
            let _ = disk().cut(&self.file, &self.path, self.tail.end);
        }
        written
    }

    fn write_durably(&mut self, bytes: &[u8], durability: Durability) -> io::Result<()> {
        let first = self.tail.seq == 0;
        disk().append(&mut self.file, &self.path, bytes)?;
        if first || durability == Durability::Synced {
            disk().sync(&self.file, &self.path)?;
        }
        if first && let Some(folder) = self.path.parent() {
            disk().sync_folder(folder);
        }
        Ok(())
    }

    fn not_saved(&self, error: &io::Error) -> StoreError {
        StoreError::from_io(StoreErrorKind::NotSaved, &self.path, "cannot be written", error)
    }
}

/// Opens a journal, makes it if it does not exist, and waits for its lock.
fn open_locked(path: &Path, deadline: &Deadline) -> Result<(File, Metadata), StoreError> {
    loop {
        let file = open_file(path).map_err(|error| unreadable(path, &error))?;
        lock(&file, path, deadline)?;
        let data = file.metadata().map_err(|error| unreadable(path, &error))?;
        // The process that held the lock may have removed the file.
        if !removed(&data) {
            return Ok((file, data));
        }
    }
}

/// Whether the file has no name any more.
#[cfg(unix)]
fn removed(data: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(data) == 0
}

/// Whether the file has no name any more; not on this system, where an open file keeps its name.
#[cfg(not(unix))]
fn removed(_data: &Metadata) -> bool {
    false
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be opened", error)
}

fn open_file(path: &Path) -> io::Result<File> {
    match (disk().open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            disk().make_folder(folder)?;
            disk().open(path)
        }
        (opened, _) => opened,
    }
}
