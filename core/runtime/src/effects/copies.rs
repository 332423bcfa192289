//! Copies of the watched files of a session, one after another in one file, so that they can be put back.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::ownership::open_own;

/// The largest file, in bytes, that is copied.
const MAX_COPIED: usize = 256 * 1024;
/// The most bytes of copies in a session.
const MAX_TOTAL: u64 = 16 * 1024 * 1024;

/// Where a copy lies in the file of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) from: u64,
    pub(crate) length: u64,
}

/// The file of copies, with what is to be added to it.
pub(crate) struct Copies {
    path: PathBuf,
    length: u64,
    added: Vec<u8>,
}

impl Copies {
    pub(crate) fn new(path: PathBuf) -> Self {
        let length = path.metadata().map_or(0, |data| data.len());
        Self { path, length, added: Vec::new() }
    }

    /// Adds a copy; `None`: it is too large, or there are too many.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Option<Copied> {
        let added = u64::try_from(self.added.len()).ok()?;
        let copied = Copied { from: self.length.checked_add(added)?, length: u64::try_from(bytes.len()).ok()? };
        if bytes.len() > MAX_COPIED || copied.from.checked_add(copied.length)? > MAX_TOTAL {
            return None;
        }
        self.added.extend_from_slice(bytes);
        Some(copied)
    }

    /// The bytes of a copy that was written.
    pub(crate) fn get(&self, copied: Copied) -> io::Result<Vec<u8>> {
        read(&self.path, copied)
    }

    /// Writes what was added. A copy that a crash cuts off is found by its digest.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        if self.added.is_empty() {
            return Ok(());
        }
        if let Some(folder) = self.path.parent().filter(|folder| !folder.exists()) {
            disk().make_folder(folder)?;
        }
        let mut file = disk().open(&self.path)?;
        disk().append(&mut file, &self.path, &std::mem::take(&mut self.added))
    }
}

/// The bytes of a copy.
pub(crate) fn read(path: &Path, copied: Copied) -> io::Result<Vec<u8>> {
    let mut file = open_own(path, OpenOptions::new().read(true))?;
    file.seek(SeekFrom::Start(copied.from))?;
    let mut bytes = Vec::new();
    file.take(copied.length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
