//! Locks on files: taken within a deadline, and checked to keep other processes out.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::disk::ownership::open_own;
use crate::error::{StoreError, StoreErrorKind};

/// The pause before the second attempt to lock; each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(250);
/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_millis(2);

/// Locks the file, and waits for the lock until half of the deadline has passed.
///
/// # Errors
///
/// `state-busy`: another process held the lock for that long. `state-disk`: the file system has no locks.
/// `state-unreadable`: any other failure.
pub fn lock(file: &File, path: &Path, deadline: &Deadline) -> Result<(), StoreError> {
    let mut pause = FIRST_PAUSE;
    while !try_lock(file, path)? {
        if deadline.half_gone() {
            let message = format!("`{}` stayed locked", path.display());
            return Err(StoreError::new(StoreErrorKind::Busy, path, message));
        }
        std::thread::sleep(pause);
        pause = MAX_PAUSE.min(pause * 2);
    }
    Ok(())
}

/// Locks the file if no other process holds the lock. Whether it is locked now.
///
/// # Errors
///
/// `state-disk`: the file system has no locks. `state-unreadable`: any other failure.
pub fn try_lock(file: &File, path: &Path) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            Err(StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be locked", &error))
        }
    }
}

/// Checks that a lock on this file, which the caller holds, keeps others out.
///
/// # Errors
///
/// `state-disk`: it does not.
pub fn check_lock(path: &Path) -> Result<(), StoreError> {
    let failed = |what: &str, error| StoreError::from_io(StoreErrorKind::Unreadable, path, what, &error);
    let other = open_own(path, OpenOptions::new().read(true)).map_err(|error| failed("cannot be opened", error))?;
    match other.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(()),
        Ok(()) => {
            let message = format!("a lock on `{}` keeps nobody out on this file system", path.display());
            Err(StoreError::new(StoreErrorKind::Unsupported, path, message))
        }
        Err(TryLockError::Error(error)) => Err(failed("cannot be locked", error)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_keeps_nobody_out_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let unlocked = check_lock(file.path()).unwrap_err();
        assert_eq!(unlocked.kind, StoreErrorKind::Unsupported, "nobody holds one");
        assert!(try_lock(file.as_file(), file.path()).unwrap());
        assert_eq!(check_lock(file.path()), Ok(()));
    }
}
