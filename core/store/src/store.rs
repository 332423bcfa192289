//! The trait `Store`: where journals and the small files beside them are kept.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use crate::deadline::Deadline;
use crate::digest::Digest;
use crate::disk::Disk as _;
use crate::disk::active_disk::disk;
use crate::disk::mark::Mark;
use crate::error::StoreError;

/// A place that keeps journals and small files by their path: a file system, or memory.
pub trait Store: Debug + Send + Sync {
    /// Opens a journal and locks it until the value goes. A journal that does not exist is made.
    ///
    /// # Errors
    ///
    /// `state-busy`: another process held the lock until half of the deadline was gone. `state-exposed`: the journal is
    /// not the user's own. `state-disk`: the file system has no locks. `state-unreadable`: any other failure.
    fn lock(&self, path: &Path, deadline: &Deadline) -> Result<Box<dyn Medium>, StoreError>;

    /// Opens a journal to read, without its lock; `None` if there is none.
    ///
    /// # Errors
    ///
    /// `state-exposed`: it is not the user's own. `state-unreadable`: any other failure.
    fn view(&self, path: &Path) -> Result<Option<Box<dyn Medium>>, StoreError>;

    /// How long the file of a journal grows before it is sealed as a part of the journal, in bytes.
    fn part_bytes(&self) -> u64 {
        disk().part_bytes()
    }

    /// Whether it keeps what it is given in the files of these paths, and events are those of calls that run here and now.
    fn is_on_disk(&self) -> bool {
        false
    }

    /// Whether there is a file of this path.
    fn exists(&self, path: &Path) -> bool;

    /// The content of a small file; `None` if there is none.
    ///
    /// # Errors
    ///
    /// `state-exposed`: it is not the user's own. `state-unreadable`: any other failure.
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes a small file, and the folders above it, durably: the old content is there or the new, never a part.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-disk`: it cannot be written.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError>;

    /// Removes a file durably. A file that does not exist counts as removed.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: it cannot be removed.
    fn remove(&self, path: &Path) -> Result<(), StoreError>;
}

/// The bytes of one open journal.
pub trait Medium: Debug + Send {
    /// How many bytes it had when it was opened, and has after what was written since.
    fn length(&self) -> u64;

    /// The bytes from one offset to another.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    fn read(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>>;

    /// Writes bytes at the end.
    ///
    /// # Errors
    ///
    /// They cannot be written, or not all of them.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was written durable.
    ///
    /// # Errors
    ///
    /// It cannot be made durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Makes the name of a new journal durable, where the system can.
    fn sync_name(&mut self);

    /// Cuts the journal off at this length.
    ///
    /// # Errors
    ///
    /// It cannot be cut off.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Keeps all that was written so far durably in a file of this path, and leaves the journal empty. A file that is there
    /// is replaced.
    ///
    /// # Errors
    ///
    /// It cannot be kept; the journal is then as it was.
    fn seal(&mut self, part: &Path) -> io::Result<()>;

    /// Whether the last program to write to the journal was this one, and its last record has this chain hash.
    fn fits(&self, head: &Digest) -> bool;

    /// Leaves the fingerprint of the last record, for [`Medium::fits`].
    ///
    /// # Errors
    ///
    /// The medium cannot keep it.
    fn set_fingerprint(&mut self, head: &Digest) -> io::Result<()>;

    /// The mark of the journal as it is now; `None` if it cannot be told.
    fn mark(&self) -> Option<Mark>;

    /// Checks that the lock of a new journal keeps other processes out.
    ///
    /// # Errors
    ///
    /// `state-disk`: it does not.
    fn check_lock(&self) -> Result<(), StoreError>;
}
