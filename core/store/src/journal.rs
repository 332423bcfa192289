//! The journal: an append-only file of hash-chained records, audit trail and state in one (rules 8).
//!
//! A record holds an event, its decision and the changes of the state. From time to time a record also holds a snapshot
//! of the whole state. The state after the last record is the last snapshot with the changes since. A long journal is
//! sealed in parts ([`crate::parts`]).

use std::io;
use std::path::{Path, PathBuf};

use phasegate_core::Durability;
use phasegate_formats::journal::Entry;
use phasegate_formats::line::{self, Place};
use serde::Serialize;

use crate::chain::{self, Walked};
use crate::deadline::Deadline;
use crate::digest::{Digest, hex};
use crate::disk::mark::Mark;
use crate::error::{StoreError, StoreErrorKind};
use crate::parts::{self, Start};
use crate::state::JournalState;
use crate::store::{Medium, Store};
use crate::tail::{self, Position, SnapshotPlace};

/// A snapshot follows at the latest after so many records without one.
const MAX_RECORDS_SINCE_SNAPSHOT: u64 = 64;
/// A snapshot follows as soon as the records since the last one have more bytes than it, and more than this.
const MIN_BYTES_SINCE_SNAPSHOT: u64 = 12 * 1024;

/// A journal whose lock is held. Dropping the value releases the lock.
#[derive(Debug)]
pub struct Journal {
    medium: Box<dyn Medium>,
    path: PathBuf,
    position: Position,
    /// Whether the mtime fingerprint did not fit, so that the whole chain was read; the next record says so.
    unsealed: bool,
    /// How long its file grows before it is sealed.
    part_bytes: u64,
    /// Whether a write failed. The end of the file is unknown from then on.
    failed: bool,
    /// The records that are still to be written, if the journal collects them; else each is written at once.
    held: Option<Held>,
    /// The mark of the file after the last write, if the journal collects records.
    mark: Option<Mark>,
}

/// Records that are still to be written.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    /// Whether one of them must be durable.
    sync: bool,
}

/// Where a journal stood when its lock was released.
#[derive(Debug)]
pub struct Rest {
    position: Position,
    mark: Mark,
}

impl Rest {
    /// The mark of the file at that moment.
    pub fn mark(&self) -> Mark {
        self.mark
    }
}

/// What the first record after opening says of how the journal was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Whether the mtime fingerprint did not fit, so that the whole chain was read.
    pub unsealed: bool,
    /// How many bytes of a torn record were cut off.
    pub cut: u64,
}

/// The last record of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Last<S> {
    /// Its number, from 1.
    pub seq: u64,
    /// Its chain hash, as 64 hexadecimal digits.
    pub head: String,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The version of the policy that was in use.
    pub policy: String,
    /// The state after it.
    pub state: S,
}

/// Reads the last record of a journal and the state after it, without its lock; `None` if there is none.
///
/// # Errors
///
/// `state-unreadable` or `state-version`, as the end of the file shows; `state-exposed`: it is not the user's own.
pub fn read_last<S: JournalState>(store: &dyn Store, path: &Path) -> Result<Option<Last<S>>, StoreError> {
    let Some(mut medium) = store.view(path)? else { return Ok(None) };
    let (position, state) = tail::read_after_parts(store, medium.as_mut(), path)?;
    let policy = position.context.policy;
    Ok((position.seq > 0).then(|| Last {
        seq: position.seq,
        head: hex(&position.head),
        time: position.time,
        policy,
        state,
    }))
}

impl Journal {
    /// Opens a journal, makes it if it does not exist, waits for its lock and reads its state. A torn last record is cut
    /// off. If the mtime fingerprint does not fit, the whole chain is read.
    ///
    /// # Errors
    ///
    /// As for [`Store::lock`]. `state-unreadable`, `state-version`: as the file shows.
    pub fn open<S: JournalState>(store: &dyn Store, path: &Path, deadline: &Deadline) -> Result<(Self, S), StoreError> {
        let medium = store.lock(path, deadline)?;
        Self::read(store, medium, path, None)
    }

    /// Opens a journal as [`Journal::open`] does. From then on records are collected until [`Journal::write`]. The state
    /// is `None` if the file did not change since `rest`.
    ///
    /// # Errors
    ///
    /// As for [`Journal::open`].
    pub fn reopen<S: JournalState>(
        store: &dyn Store,
        path: &Path,
        deadline: &Deadline,
        rest: Option<Rest>,
    ) -> Result<(Self, Option<S>), StoreError> {
        let medium = store.lock(path, deadline)?;
        let mark = medium.mark();
        let held = Some(Held::default());
        if let Some(rest) = rest.filter(|rest| Some(rest.mark) == mark) {
            let (path, position) = (path.to_path_buf(), rest.position);
            let part_bytes = store.part_bytes();
            return Ok((Self { medium, path, position, unsealed: false, part_bytes, failed: false, held, mark }, None));
        }
        let (mut journal, state) = Self::read(store, medium, path, held)?;
        journal.mark = journal.medium.mark();
        Ok((journal, Some(state)))
    }

    fn read<S: JournalState>(
        store: &dyn Store,
        mut medium: Box<dyn Medium>,
        path: &Path,
        held: Option<Held>,
    ) -> Result<(Self, S), StoreError> {
        let length = medium.length();
        if length == 0 {
            medium.check_lock()?;
        }
        let (position, state) = tail::read_after_parts(store, medium.as_mut(), path)?;
        let unsealed = length > 0 && (position.torn > 0 || !medium.fits(&position.head));
        let (path, part_bytes) = (path.to_path_buf(), store.part_bytes());
        let mut journal = Self { medium, path, position, unsealed, part_bytes, failed: false, held, mark: None };
        if unsealed {
            if journal.position.end > 0 {
                journal.check_chain(store)?;
            }
            journal.mend().map_err(|error| journal.unreadable(&error))?;
        }
        Ok((journal, state))
    }

    /// Checks the whole chain of the file, because another program may have written to it. It must go on from the end of
    /// the last sealed part.
    fn check_chain(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let path = self.path.display();
        let start = Start::of(self.medium.as_mut()).map_err(|error| self.unreadable(&error))?.unwrap_or_default();
        let sealed = match parts::open(store, &self.path, start.parts)?.pop() {
            Some(mut last) => tail::last_hash(last.as_mut()).map_err(|error| self.unreadable(&error))?,
            None => Some(start.head),
        };
        if sealed != Some(start.head) {
            let message = format!("`{path}` is damaged: it does not go on from its part {}", start.parts);
            return Err(StoreError::new(StoreErrorKind::Unreadable, &self.path, message));
        }
        let walked = chain::walk(self.medium.as_mut(), self.position.end, start.records, start.head);
        let walked = walked.map_err(|error| self.unreadable(&error))?;
        let message = match walked {
            Walked::Whole { count, head } if count == self.position.seq && head == self.position.head => return Ok(()),
            Walked::Whole { count, .. } => {
                format!("`{path}` is damaged: it has {count} records, the last is number {}", self.position.seq)
            }
            Walked::Broken { record } => {
                format!("`{path}` is damaged: record {record} was changed, or one before it was")
            }
        };
        Err(StoreError::new(StoreErrorKind::Unreadable, &self.path, message))
    }

    /// Cuts off a torn record, and leaves the fingerprint anew.
    fn mend(&mut self) -> io::Result<()> {
        if self.position.torn > 0 {
            tracing::warn!(path = %self.path.display(), bytes = self.position.torn, "a torn record is cut off");
            self.medium.cut(self.position.end)?;
        }
        self.leave_fingerprint();
        Ok(())
    }

    /// Leaves the fingerprint of the last record. If that fails, the next to open the journal reads the whole chain.
    fn leave_fingerprint(&mut self) {
        if let Err(error) = self.medium.set_fingerprint(&self.position.head) {
            tracing::warn!(path = %self.path.display(), %error, "the journal's fingerprint cannot be set");
        }
    }

    /// The number of the last record; 0 in an empty journal.
    pub fn seq(&self) -> u64 {
        self.position.seq
    }

    /// The chain hash of the last record, as 64 hexadecimal digits.
    pub fn head(&self) -> String {
        hex(&self.position.head)
    }

    /// The version of the policy of the last record; empty in an empty journal.
    pub fn policy(&self) -> &str {
        &self.position.context.policy
    }

    /// Takes what the next record would say of how the journal was found. A record says it at most once.
    pub fn take_finding(&mut self) -> Finding {
        Finding { unsealed: std::mem::take(&mut self.unsealed), cut: std::mem::take(&mut self.position.torn) }
    }

    /// Puts back what [`Journal::take_finding`] took.
    pub fn put_finding(&mut self, finding: Finding) {
        (self.unsealed, self.position.torn) = (finding.unsealed, finding.cut);
    }

    /// Appends a record. `after` is the state after its changes, which is written only if a snapshot is due. The first
    /// record of a journal is always durable. If the journal collects records, only the first is written at once.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: it could not be written, or not be made durable. `state-disk`: nothing can be made durable on
    /// this file system.
    pub fn append<C: Serialize, S: Serialize + ?Sized>(
        &mut self,
        entry: &Entry<C>,
        after: &S,
        durability: Durability,
    ) -> Result<(), StoreError> {
        if self.failed {
            return Err(self.not_saved(&io::Error::other("a record before could not be written")));
        }
        if self.position.end >= self.part_bytes && !self.holds() {
            self.seal()?;
        }
        let snapshot = self.position.snapshot.filter(|snapshot| !self.is_due(snapshot));
        let place = Place {
            seq: self.position.seq + 1,
            back: snapshot.map_or(0, |snapshot| self.position.end - snapshot.offset),
            previous: &hex(&self.position.head),
            part: self.position.parts,
            cut: self.position.torn,
            unsealed: self.unsealed,
        };
        let state = Some(after).filter(|_| snapshot.is_none());
        let written = line::write(entry, place, &self.position.context, state);
        let json = written.map_err(|error| self.not_saved(&error.into()))?;
        let (line, head) = chain::line(&self.position.head, &json);
        self.put(&line, durability)?;
        self.advance(entry, line.len() as u64, head, snapshot).map_err(|error| self.not_saved(&error.into()))?;
        if self.held.as_ref().is_none_or(|held| held.bytes.is_empty()) {
            self.leave_fingerprint();
            self.note_mark();
        }
        Ok(())
    }

    /// Keeps what there is as a sealed part, and begins the file anew.
    fn seal(&mut self) -> Result<(), StoreError> {
        let part = parts::part(&self.path, self.position.parts + 1);
        if let Err(error) = self.medium.seal(&part) {
            self.failed = true;
            return Err(StoreError::from_io(StoreErrorKind::NotSaved, &part, "cannot be written", &error));
        }
        self.position.parts += 1;
        (self.position.end, self.position.snapshot) = (0, None);
        Ok(())
    }

    fn is_due(&self, snapshot: &SnapshotPlace) -> bool {
        let bytes = self.position.end - snapshot.offset - snapshot.length;
        let records = self.position.seq - snapshot.seq;
        records >= MAX_RECORDS_SINCE_SNAPSHOT || bytes >= snapshot.length.max(MIN_BYTES_SINCE_SNAPSHOT)
    }

    /// Writes a line, or collects it.
    fn put(&mut self, line: &[u8], durability: Durability) -> Result<(), StoreError> {
        let is_first = self.position.end == 0;
        if let Some(held) = self.held.as_mut().filter(|_| !is_first) {
            held.bytes.extend_from_slice(line);
            held.sync |= durability == Durability::Synced;
            return Ok(());
        }
        let mut written = self.medium.append(line);
        if is_first || durability == Durability::Synced {
            written = written.and_then(|()| self.medium.sync());
        }
        if let Err(error) = written {
            self.failed = true;
            let _ = self.medium.cut(self.position.end);
            return Err(self.not_saved(&error));
        }
        if is_first {
            self.medium.sync_name();
        }
        Ok(())
    }

    /// Goes on from a record that was appended.
    fn advance<C>(
        &mut self,
        entry: &Entry<C>,
        length: u64,
        head: Digest,
        snapshot: Option<SnapshotPlace>,
    ) -> serde_json::Result<()> {
        let position = &mut self.position;
        (position.head, position.seq, position.torn) = (head, position.seq + 1, 0);
        let here = SnapshotPlace { offset: position.end, length, seq: position.seq };
        position.end += length;
        self.unsealed = false;
        position.snapshot = Some(snapshot.unwrap_or(here));
        line::note(&mut position.context, entry, snapshot.is_none())
    }

    /// Whether records are collected that are still to be written.
    pub fn holds(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.bytes.is_empty())
    }

    /// Whether one of the collected records must be durable before its answer leaves.
    pub fn must_sync(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.sync)
    }

    /// Makes every record so far durable.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-disk`: that is impossible.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if self.holds() {
            return self.write(true);
        }
        self.medium.sync().map_err(|error| self.not_saved(&error))
    }

    /// Writes the collected records. They are made durable if one of them must be, or if `sync` asks for it.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-disk`: none of the records is saved, and no further record can be.
    pub fn write(&mut self, sync: bool) -> Result<(), StoreError> {
        if self.failed {
            return Err(self.not_saved(&io::Error::other("a record before could not be written")));
        }
        let Some(held) = self.held.as_mut().map(std::mem::take) else { return Ok(()) };
        if held.bytes.is_empty() {
            return Ok(());
        }
        let mut written = self.medium.append(&held.bytes);
        if sync || held.sync {
            written = written.and_then(|()| self.medium.sync());
        }
        if let Err(error) = written {
            self.failed = true;
            let _ = self.medium.cut(self.position.end - held.bytes.len() as u64);
            return Err(self.not_saved(&error));
        }
        self.leave_fingerprint();
        self.note_mark();
        Ok(())
    }

    fn note_mark(&mut self) {
        if self.held.is_some() {
            self.mark = self.medium.mark();
        }
    }

    /// The mark of the file after the last write, if the journal collects records.
    pub fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// Releases the lock. Where the journal stands, if all of it was written.
    pub fn release(self) -> Option<Rest> {
        let whole = !self.failed && !self.holds() && self.position.seq > 0;
        self.mark.filter(|_| whole).map(|mark| Rest { position: self.position, mark })
    }

    fn not_saved(&self, error: &io::Error) -> StoreError {
        StoreError::from_io(StoreErrorKind::NotSaved, &self.path, "cannot be written", error)
    }

    fn unreadable(&self, error: &io::Error) -> StoreError {
        StoreError::from_io(StoreErrorKind::Unreadable, &self.path, "cannot be opened", error)
    }
}
