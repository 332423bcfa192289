//! Journals of a process that lives long: records are held back until a batch of events is written at once, and where a
//! journal stands is kept between two batches, for as long as nobody else wrote to it.

use std::fs::Metadata;
use std::path::Path;

use super::tail::Tail;
use super::{Durability, Journal, open_locked, removed};
use crate::active_disk::disk;
use crate::deadline::Deadline;
use crate::disk::Disk as _;
use crate::error::StoreError;

/// What tells whether a file was written since: its number, length, and the times of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark([i128; 4]);

impl Mark {
    /// The mark of a file that is open or was looked up.
    #[cfg(unix)]
    pub fn of(data: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let changed = nanoseconds(data.ctime(), data.ctime_nsec());
        Self([i128::from(data.ino()), i128::from(data.size()), nanoseconds(data.mtime(), data.mtime_nsec()), changed])
    }

    /// The mark of a file that is open or was looked up.
    #[cfg(not(unix))]
    pub fn of(data: &Metadata) -> Self {
        let modified = data.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let nanoseconds = modified.and_then(|since| i128::try_from(since.as_nanos()).ok());
        Self([0, i128::from(data.len()), nanoseconds.unwrap_or_default(), 0])
    }
}

/// Records that are still to be written.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Whether one of them must be durable.
    sync: bool,
}

/// Where a journal stood when its lock was given back.
#[derive(Debug)]
pub struct Rest {
    tail: Tail,
    mark: Mark,
}

impl Rest {
    /// How the file was left.
    pub fn mark(&self) -> Mark {
        self.mark
    }
}

impl Journal {
    /// As [`Journal::open`]; from here on records are held back. A file that is as it was left is not read again. Whether
    /// it was.
    ///
    /// # Errors
    ///
    /// As for [`Journal::open`].
    pub fn open_again(path: &Path, deadline: &Deadline, rest: Option<Rest>) -> Result<(Self, bool), StoreError> {
        let (file, data) = open_locked(path, deadline)?;
        let held = Some(Held::default());
        match rest.filter(|rest| rest.mark == Mark::of(&data)) {
            Some(Rest { tail, .. }) => {
                let (path, left) = (path.to_path_buf(), Some(Mark::of(&data)));
                Ok((Self { file, path, tail, unsealed: false, failed: false, held, left }, true))
            }
            None => {
                let mut journal = Self { held, ..Self::read(file, &data, path)? };
                journal.note_left();
                Ok((journal, false))
            }
        }
    }

    /// What the next record is to say of how the file was found: whether the seal did not fit, and how many bytes of a torn
    /// record were cut off. That is said once at most, by whoever found it.
    pub fn take_found(&mut self) -> (bool, u64) {
        (std::mem::take(&mut self.unsealed), std::mem::take(&mut self.tail.torn))
    }

    /// The next record is to say this, after all.
    pub fn put_found(&mut self, (unsealed, torn): (bool, u64)) {
        (self.unsealed, self.tail.torn) = (unsealed, torn);
    }

    /// Notes how the file is now, where records are held back.
    pub(super) fn note_left(&mut self) {
        if self.held.is_some() {
            self.left = self.file.metadata().ok().map(|data| Mark::of(&data));
        }
    }

    /// How the file was left.
    pub fn left(&self) -> Option<Mark> {
        self.left
    }

    /// Whether no other program wrote to the file since, or removed it.
    pub fn is_as_left(&self) -> bool {
        let now = self.file.metadata().ok().filter(|data| !removed(data)).map(|data| Mark::of(&data));
        now.is_some() && now == self.left
    }

    /// Whether records are held back that are still to be written.
    pub fn holds(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.bytes.is_empty())
    }

    /// Whether one of them must be durable before its answer goes out.
    pub fn must_sync(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.sync)
    }

    /// Holds a record back; `false`: it is to be written at once.
    pub(super) fn hold(&mut self, bytes: &[u8], durability: Durability) -> bool {
        let Some(held) = &mut self.held else { return false };
        held.bytes.extend_from_slice(bytes);
        held.sync |= durability == Durability::Synced;
        true
    }

    /// Writes what is held back, and makes it durable where one of the records must be, or `sync` asks for it.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-disk`: none of the records is saved, and no other can be.
    pub fn write_held(&mut self, sync: bool) -> Result<(), StoreError> {
        if self.failed {
            return Err(self.not_saved(&std::io::Error::other("a record before could not be written")));
        }
        let Some(held) = self.held.as_mut().map(std::mem::take) else { return Ok(()) };
        if held.bytes.is_empty() {
            return Ok(());
        }
        let mut written = disk().append(&mut self.file, &self.path, &held.bytes);
        if sync || held.sync {
            written = written.and_then(|()| disk().sync(&self.file, &self.path));
        }
        if let Err(error) = written {
            self.failed = true;
            let _ = disk().cut(&self.file, &self.path, self.tail.end - held.bytes.len() as u64);
            return Err(self.not_saved(&error));
        }
        self.seal();
        self.note_left();
        Ok(())
    }

    /// Gives the lock back. Where the journal stands, if all of it was written.
    pub fn rest(self) -> Option<Rest> {
        let whole = !self.failed && !self.holds() && self.tail.seq > 0;
        self.left.filter(|_| whole).map(|mark| Rest { tail: self.tail, mark })
    }
}
