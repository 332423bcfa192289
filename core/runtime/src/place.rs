//! Where the state may live: folders that are the user's alone, on a file system that can lock (rules 8.4).

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use phasegate_adapter::Problem;
use phasegate_core::Code;

use crate::files::{self, Exposed};
use crate::project::Project;

/// Whether the folders of a project's state are the user's alone. One that does not exist yet is made so.
///
/// # Errors
///
/// `state-exposed`: one belongs to another user, others may write to it, or it is a link. `state-unreadable`: it cannot
/// be looked at.
pub fn check_folders(state: &Path, project: &Project) -> Result<(), Problem> {
    // The folder of all state may be reached through a link of the user's own; what is in it may not.
    let inside = [&state.join("projects"), &project.folder, &project.sessions()];
    let found = [(state, state.metadata())];
    let inside = inside.iter().map(|path| (path.as_path(), path.symlink_metadata()));
    for (path, data) in found.into_iter().chain(inside) {
        let checked = match data {
            Ok(data) if data.is_symlink() => Err(Exposed::error("is a link")),
            Ok(data) => files::check_own(&data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error),
        };
        checked.map_err(|error| problem(path, "cannot be used", &error, Code::StateUnreadable))?;
    }
    Ok(())
}

/// Whether a lock on this file, which the caller holds, keeps others out.
///
/// # Errors
///
/// `state-disk`: it does not.
pub fn check_lock(path: &Path) -> Result<(), Problem> {
    let opened = files::open_own(path, OpenOptions::new().read(true));
    let other = opened.map_err(|error| problem(path, "cannot be opened", &error, Code::StateUnreadable))?;
    match other.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(()),
        Ok(()) => {
            let message = format!("a lock on `{}` keeps nobody out on this file system", path.display());
            Err(Problem::new(Code::StateDisk, message))
        }
        Err(TryLockError::Error(error)) => Err(problem(path, "cannot be locked", &error, Code::StateUnreadable)),
    }
}

/// Takes the lock if nobody has it.
///
/// # Errors
///
/// `state-disk`: the file system knows no locks. `state-unreadable`: anything else.
pub fn try_lock(file: &File, path: &Path) -> Result<bool, Problem> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(problem(path, "cannot be locked", &error, Code::StateUnreadable)),
    }
}

/// What an error with a file of the state means. `code` is for those that mean nothing more than that it failed.
pub fn problem(path: &Path, what: &str, error: &io::Error, code: Code) -> Problem {
    let code = if error.get_ref().is_some_and(|inner| inner.is::<Exposed>()) || is_link(error) {
        Code::StateExposed
    } else if unsupported(error) {
        Code::StateDisk
    } else {
        code
    };
    Problem::new(code, format!("`{}` {what}: {error}", path.display()))
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &io::Error) -> bool {
    false
}

/// Whether the file system cannot do what was asked at all.
#[cfg(unix)]
fn unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let never = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::INVAL];
    error.raw_os_error().is_some_and(|raw| never.iter().any(|errno| errno.raw_os_error() == raw))
}

#[cfg(not(unix))]
fn unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_keeps_nobody_out_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(check_lock(file.path()).unwrap_err().code, Code::StateDisk, "nobody holds one");
        assert!(try_lock(file.as_file(), file.path()).unwrap());
        assert_eq!(check_lock(file.path()), Ok(()));
    }

    #[test]
    fn what_a_file_system_cannot_do_at_all_has_a_code_of_its_own() {
        use rustix::io::Errno;
        for (errno, code) in [
            (Errno::NOLCK, Code::StateDisk),
            (Errno::NOSYS, Code::StateDisk),
            (Errno::OPNOTSUPP, Code::StateDisk),
            (Errno::INVAL, Code::StateDisk),
            (Errno::LOOP, Code::StateExposed),
            (Errno::NOSPC, Code::StateNotSaved),
            (Errno::IO, Code::StateNotSaved),
        ] {
            let error = io::Error::from_raw_os_error(errno.raw_os_error());
            assert_eq!(problem(Path::new("f"), "cannot be written", &error, Code::StateNotSaved).code, code, "{errno}");
        }
    }

    #[test]
    fn a_file_of_another_user_is_not_taken_for_ours() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let opened = || files::open_own(file.path(), OpenOptions::new().read(true));
        assert!(opened().is_ok());
        // Only the superuser can give files away; anyone else has not made `/etc/passwd`.
        let given = std::os::unix::fs::chown(file.path(), Some(12345), None).is_ok();
        let foreign =
            if given { opened() } else { files::open_own(Path::new("/etc/passwd"), OpenOptions::new().read(true)) };
        let problem = problem(file.path(), "cannot be opened", &foreign.unwrap_err(), Code::StateUnreadable);
        assert_eq!(problem.code, Code::StateExposed);
        assert!(problem.message.contains("belongs to another user"), "{}", problem.message);
    }
}
