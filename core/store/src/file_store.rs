//! Journals in files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
#[cfg(not(unix))]
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::deadline::Deadline;
use crate::digest::Digest;
use crate::disk::Disk as _;
use crate::disk::active_disk::disk;
use crate::disk::fingerprint;
use crate::disk::lock;
use crate::disk::mark::Mark;
use crate::disk::ownership::{open_own, read_own};
use crate::error::{StoreError, StoreErrorKind};
use crate::store::{Medium, Store};

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileStore;

/// A journal in a file. The lock goes with the value.
#[derive(Debug)]
struct OpenFile {
    file: File,
    path: PathBuf,
    /// The metadata of the file when it was opened.
    found: Metadata,
    length: u64,
    /// Whether this value changed the file since.
    changed: bool,
}

impl Store for FileStore {
    fn is_on_disk(&self) -> bool {
        true
    }

    fn lock(&self, path: &Path, deadline: &Deadline) -> Result<Box<dyn Medium>, StoreError> {
        loop {
            let file = open_or_make(path).map_err(|error| unreadable(path, &error))?;
            lock::lock(&file, path, deadline)?;
            let found = file.metadata().map_err(|error| unreadable(path, &error))?;
            // The process that held the lock before can have removed the file.
            if !is_removed(&found) {
                let length = found.len();
                return Ok(Box::new(OpenFile { file, path: path.to_path_buf(), found, length, changed: false }));
            }
        }
    }

    fn view(&self, path: &Path) -> Result<Option<Box<dyn Medium>>, StoreError> {
        let file = match open_own(path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        };
        let found = file.metadata().map_err(|error| unreadable(path, &error))?;
        let length = found.len();
        Ok(Some(Box::new(OpenFile { file, path: path.to_path_buf(), found, length, changed: false })))
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        match read_own(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be read", &error)),
        }
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let made = path.parent().map_or(Ok(()), |folder| disk().make_folder(folder));
        made.and_then(|()| disk().replace(path, bytes))
            .map_err(|error| StoreError::from_io(StoreErrorKind::NotSaved, path, "cannot be written", &error))
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        let removed = disk().remove(path);
        removed.map_err(|error| StoreError::from_io(StoreErrorKind::NotSaved, path, "cannot be removed", &error))
    }
}

fn open_or_make(path: &Path) -> io::Result<File> {
    match (disk().open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            disk().make_folder(folder)?;
            disk().open(path)
        }
        (opened, _) => opened,
    }
}

/// Whether the file has no name any more.
#[cfg(unix)]
fn is_removed(data: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(data) == 0
}

/// Whether the file has no name any more; not on this system, where an open file keeps its name.
#[cfg(not(unix))]
fn is_removed(_data: &Metadata) -> bool {
    false
}

/// Reads from an offset on, until the buffer is full or the file ends. Returns how many bytes were read.
fn read_at(file: &mut File, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
    #[cfg(not(unix))]
    file.seek(SeekFrom::Start(from))?;
    let mut read = 0;
    while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
        #[cfg(unix)]
        let found = std::os::unix::fs::FileExt::read_at(file, rest, from + read as u64);
        #[cfg(not(unix))]
        let found = file.read(rest);
        match found {
            Ok(0) => break,
            Ok(bytes) => read += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be opened", error)
}

impl Medium for OpenFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?];
        let read = read_at(&mut self.file, from, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.changed = true;
        disk().append(&mut self.file, &self.path, bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        disk().sync(&self.file, &self.path)
    }

    fn sync_name(&mut self) {
        self.path.parent().into_iter().for_each(|folder| disk().sync_folder(folder));
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.changed = true;
        disk().cut(&self.file, &self.path, length)?;
        self.length = length;
        Ok(())
    }

    fn seal(&mut self, part: &Path) -> io::Result<()> {
        let bytes = self.read(0, self.length)?;
        disk().replace(part, &bytes)?;
        self.cut(0)?;
        self.sync()
    }

    fn fits(&self, head: &Digest) -> bool {
        fingerprint::fits(&self.found, head)
    }

    fn set_fingerprint(&mut self, head: &Digest) -> io::Result<()> {
        self.changed = true;
        disk().stamp(&self.file, &self.path, fingerprint::time(head, disk().now()))
    }

    fn mark(&self) -> Option<Mark> {
        if self.changed { self.file.metadata().ok().map(|data| Mark::of(&data)) } else { Some(Mark::of(&self.found)) }
    }

    fn check_lock(&self) -> Result<(), StoreError> {
        lock::check_lock(&self.path)
    }
}
