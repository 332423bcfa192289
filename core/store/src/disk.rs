//! The disk under the store: the only ways in which journals and the small files beside them are changed.
//!
//! There is one real disk. In tests another takes its place (feature `faulty-disk`): it notes every change, so that a test
//! can produce every state in which a crash could leave the files, and it can fail after any byte.

#[cfg(feature = "faulty-disk")]
pub mod faulty;
pub mod active_disk;
pub mod fingerprint;
pub mod mark;
pub mod ownership;
pub mod files;
pub mod lock;

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::SystemTime;

use crate::disk::files::Readers;
use crate::disk::ownership::open_own;

/// How long the file of a journal grows before it is sealed, in bytes: it is copied, and hashed as a whole where its
/// fingerprint does not fit, within the time of one answer.
const PART_BYTES: u64 = 16 * 1024 * 1024;

/// What the store asks of a disk. A path is that of the file given with it.
pub trait Disk {
    /// How long the file of a journal grows before it is sealed, in bytes.
    fn part_bytes(&self) -> u64 {
        PART_BYTES
    }

    /// Opens a file of the state to read and append, and makes it if it does not exist.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Writes bytes at the end.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn append(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything written to the file durable.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn sync(&self, file: &File, path: &Path) -> io::Result<()>;
    /// Cuts the file off at this length.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn cut(&self, file: &File, path: &Path, length: u64) -> io::Result<()>;
    /// Sets the time at which the file was last changed.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn stamp(&self, file: &File, path: &Path, time: SystemTime) -> io::Result<()>;
    /// Writes a small file so that the old content or the new one is there, never a part; durable.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Removes a file; durable. One that is not there is removed.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes a folder and those above it, for their owner alone; durable.
    ///
    /// # Errors
    ///
    /// The operation failed.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, path: &Path);
    /// The time that a change is made at.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// The disk of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Real;

impl Disk for Real {
    fn open(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        open_own(path, &mut options)
    }

    fn append(&self, file: &mut File, _path: &Path, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File, _path: &Path) -> io::Result<()> {
        file.sync_data()
    }

    fn cut(&self, file: &File, _path: &Path, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn stamp(&self, file: &File, _path: &Path, time: SystemTime) -> io::Result<()> {
        file.set_modified(time)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        files::replace(path, bytes, Readers::Owner)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        path.parent().into_iter().for_each(files::sync_folder);
        Ok(())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let absent: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        files::make_folder(path)?;
        for folder in absent {
            folder.parent().into_iter().for_each(files::sync_folder);
        }
        Ok(())
    }

    fn sync_folder(&self, path: &Path) {
        files::sync_folder(path);
    }
}
