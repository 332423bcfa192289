//! The journal: an append-only file of hash-chained records that is audit trail and state at once (rules 8).
//!
//! A line is 64 hexadecimal digits, a space and a JSON object. The digits are the SHA-256 digest of the 32 bytes that
//! the line before has as digits (zeros for the first line), followed by the JSON. Every record holds the state after
//! it, whole or as a merge patch, so that the state can be rebuilt without deciding anything again.

mod entry;
pub(crate) mod patch;
pub(crate) mod redact;
pub mod scan;
mod tail;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde_json::Value;

use entry::Line;
pub use entry::{Entry, FORMAT};
use tail::Tail;

use crate::deadline::Deadline;
use crate::digest::{hex, sha256};
use crate::files::{make_folder, sync_folder};

/// A record with the whole state comes at the latest after so many without.
const WHOLE_EVERY: u64 = 15;
/// How long to wait between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(2);

/// A journal whose lock is held; it is released when the value goes.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    tail: Tail,
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
/// `state-unreadable` or `state-version`, as the file's end shows.
pub fn read_last(path: &Path) -> Result<Option<Last>, Problem> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    Ok(last(&tail::read(&mut file, path)?))
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
    /// record is cut off and mentioned in the next.
    ///
    /// # Errors
    ///
    /// `state-busy`: the lock was held until half of the deadline was gone. `state-unreadable`, `state-version`: as
    /// the file's end shows, or the file cannot be opened.
    pub fn open(path: &Path, deadline: &Deadline) -> Result<Self, Problem> {
        let mut file = open_file(path).map_err(|error| unreadable(path, &error))?;
        lock(&file, path, deadline)?;
        let tail = tail::read(&mut file, path)?;
        if tail.torn > 0 {
            tracing::warn!(path = %path.display(), bytes = tail.torn, "a torn record is cut off");
            file.set_len(tail.end).map_err(|error| unreadable(path, &error))?;
        }
        Ok(Self { file, path: path.to_path_buf(), tail })
    }

    /// The last record; `None` in an empty journal.
    #[must_use]
    pub fn last(&self) -> Option<Last> {
        last(&self.tail)
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

    /// Appends a record, with `state` as the state after it.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: it could not be written, or not be made durable.
    pub fn append(&mut self, entry: &Entry, state: Value, durability: Durability) -> Result<(), Problem> {
        let difference = (self.tail.seq > 0 && self.tail.since_whole < WHOLE_EVERY)
            .then(|| patch::difference(&self.tail.state, &state))
            .flatten();
        let whole = difference.is_none();
        let line = Line {
            v: FORMAT,
            seq: self.tail.seq + 1,
            entry,
            cut: Some(self.tail.torn).filter(|bytes| *bytes > 0),
            state: whole.then_some(&state),
            patch: difference,
        };
        let json = serde_json::to_vec(&line).map_err(|error| self.not_saved(&error))?;
        let head = sha256(&[&self.tail.head, &json]);
        let mut bytes = hex(&head).into_bytes();
        bytes.push(b' ');
        bytes.extend_from_slice(&json);
        bytes.push(b'\n');
        self.write(&bytes, durability).map_err(|error| self.not_saved(&error))?;
        self.tail.since_whole = if whole { 0 } else { self.tail.since_whole + 1 };
        self.tail = Tail {
            head,
            seq: self.tail.seq + 1,
            state,
            policy: entry.policy.clone(),
            since_whole: self.tail.since_whole,
            end: self.tail.end + bytes.len() as u64,
            torn: 0,
        };
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], durability: Durability) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            let _ = self.file.set_len(self.tail.end);
            return Err(error);
        }
        if durability == Durability::Synced || self.tail.seq == 0 {
            self.file.sync_data()?;
        }
        if self.tail.seq == 0
            && let Some(folder) = self.path.parent()
        {
            sync_folder(folder);
        }
        Ok(())
    }

    fn not_saved(&self, error: &dyn std::fmt::Display) -> Problem {
        Problem::new(Code::StateNotSaved, format!("`{}` cannot be written: {error}", self.path.display()))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::new(Code::StateUnreadable, format!("`{}` cannot be opened: {error}", path.display()))
}

fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match (options.open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(folder)?;
            options.open(path)
        }
        (opened, _) => opened,
    }
}

fn lock(file: &File, path: &Path, deadline: &Deadline) -> Result<(), Problem> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if deadline.half_gone() => {
                return Err(Problem::new(Code::StateBusy, format!("`{}` stayed locked", path.display())));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(unreadable(path, &error)),
        }
    }
}
