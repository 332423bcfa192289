//! The disk of tests: the real one, which writes down what is asked of it and can be full after any byte.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk::{Disk, Real};

/// One change, as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A file was made, empty.
    Made(PathBuf),
    /// Bytes were written at this place.
    Written {
        /// The file.
        path: PathBuf,
        /// The offset of the first byte.
        at: u64,
        /// The bytes that were written.
        bytes: Vec<u8>,
    },
    /// What was written to the file is durable from here on.
    Synced(PathBuf),
    /// A file was cut off at this length.
    Cut(PathBuf, u64),
    /// The time at which a file was last changed was set.
    Stamped(PathBuf, SystemTime),
    /// A small file was written as a whole; durable at once.
    Replaced(PathBuf, Vec<u8>),
    /// A file was removed; durable at once.
    Removed(PathBuf),
    /// A folder was made; durable at once.
    Folder(PathBuf),
    /// The names in a folder are durable from here on.
    NamesSynced(PathBuf),
}

#[derive(Default)]
struct Watch {
    changes: Vec<Change>,
    /// How many bytes can still be written; `None`: any number.
    room: Option<u64>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

thread_local! {
    static NOW: Cell<Option<SystemTime>> = const { Cell::new(None) };
}

/// Does the work while the time of this thread's disk is fixed, so that sessions of the same second keep their order.
pub fn at<T>(now: SystemTime, work: impl FnOnce() -> T) -> T {
    NOW.set(Some(now));
    let done = work();
    NOW.set(None);
    done
}

thread_local! {
    static PART: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Does the work while this thread's journals are sealed once their file has this many bytes.
pub fn sealed_at<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    PART.set(Some(bytes));
    let done = work();
    PART.set(None);
    done
}

/// Does the work on a disk with space for this many bytes. Returns its result and every change.
pub fn watched<T>(room: Option<u64>, work: impl FnOnce() -> T) -> (T, Vec<Change>) {
    WATCH.set(Some(Watch { changes: Vec::new(), room }));
    let done = work();
    (done, WATCH.take().unwrap_or_default().changes)
}

/// Whether a test watches the disk of this thread. Only then is a sync left out.
fn is_watched() -> bool {
    NOW.get().is_some() || WATCH.with_borrow(Option::is_some)
}

fn note(change: impl FnOnce() -> Change) {
    WATCH.with_borrow_mut(|watch| {
        if let Some(watch) = watch {
            watch.changes.push(change());
        }
    });
}

/// How many of `wanted` bytes fit on the disk.
fn room(wanted: usize) -> usize {
    WATCH.with_borrow_mut(|watch| {
        let Some(left) = watch.as_mut().and_then(|watch| watch.room.as_mut()) else { return wanted };
        let given = wanted.min(usize::try_from(*left).unwrap_or(usize::MAX));
        *left -= given as u64;
        given
    })
}

fn full() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

/// The real disk, watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched;

impl Disk for Watched {
    fn part_bytes(&self) -> u64 {
        PART.get().unwrap_or_else(|| Real.part_bytes())
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let there = path.exists();
        let file = Real.open(path)?;
        if !there {
            note(|| Change::Made(path.to_path_buf()));
        }
        Ok(file)
    }

    fn append(&self, file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let given = bytes.get(..room(bytes.len())).unwrap_or_default();
        let at = file.metadata()?.len();
        Real.append(file, path, given)?;
        note(|| Change::Written { path: path.to_path_buf(), at, bytes: given.to_vec() });
        if given.len() < bytes.len() { Err(full()) } else { Ok(()) }
    }

    fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        if !is_watched() {
            return Real.sync(file, path);
        }
        note(|| Change::Synced(path.to_path_buf()));
        Ok(())
    }

    fn cut(&self, file: &File, path: &Path, length: u64) -> io::Result<()> {
        Real.cut(file, path, length)?;
        note(|| Change::Cut(path.to_path_buf(), length));
        Ok(())
    }

    fn stamp(&self, file: &File, path: &Path, time: SystemTime) -> io::Result<()> {
        Real.stamp(file, path, time)?;
        note(|| Change::Stamped(path.to_path_buf(), time));
        Ok(())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if !is_watched() {
            return Real.replace(path, bytes);
        }
        if room(bytes.len()) < bytes.len() {
            std::fs::write(path.with_file_name(".phasegate-torn"), bytes)?;
            return Err(full());
        }
        std::fs::write(path, bytes)?;
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        note(|| Change::Replaced(path.to_path_buf(), bytes.to_vec()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Real.remove(path)?;
        note(|| Change::Removed(path.to_path_buf()));
        Ok(())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let absent: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        Real.make_folder(path)?;
        absent.iter().rev().for_each(|folder| note(|| Change::Folder(folder.to_path_buf())));
        Ok(())
    }

    fn sync_folder(&self, path: &Path) {
        if !is_watched() {
            Real.sync_folder(path);
        }
        note(|| Change::NamesSynced(path.to_path_buf()));
    }

    fn now(&self) -> SystemTime {
        NOW.get().unwrap_or_else(SystemTime::now)
    }
}
