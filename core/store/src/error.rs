//! What can go wrong with the store, with the stable code that users see.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use phasegate_core::Code;
use phasegate_core::answers::code::Coded;
use phasegate_formats::journal::JOURNAL_VERSION;

/// An operation of the store failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// What failed.
    pub kind: StoreErrorKind,
    /// The file or folder it failed on, where one is known.
    pub path: Option<PathBuf>,
    /// What exactly failed, as a sentence without a full stop. It names the path.
    pub message: String,
}

/// The kinds of failure of the store. Each has a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// Another process held the lock for too long.
    Busy,
    /// A file is not there.
    Missing,
    /// A file cannot be read, or its content is damaged.
    Unreadable,
    /// Another version of phasegate wrote the file.
    OtherVersion,
    /// Another user owns the file or can write to it.
    Exposed,
    /// The file system cannot lock or sync.
    Unsupported,
    /// A record could not be written or made durable.
    NotSaved,
}

impl StoreError {
    /// An error of this kind on this path.
    pub fn new(kind: StoreErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self { kind, path: Some(path.to_path_buf()), message: message.into() }
    }

    /// The error for a record in a format that this version does not read. `what` is where it is.
    pub(crate) fn other_version(path: &Path, what: &str, found: u32) -> Self {
        let message = format!("{what} has format {found}, and this version reads format {JOURNAL_VERSION} only");
        Self::new(StoreErrorKind::OtherVersion, path, message)
    }

    /// The error for an I/O error on a file of the state. `kind` applies if the I/O error is not a specific one.
    pub fn from_io(kind: StoreErrorKind, path: &Path, what: &str, error: &io::Error) -> Self {
        let kind = if error.get_ref().is_some_and(|inner| inner.is::<Exposed>()) || is_link(error) {
            StoreErrorKind::Exposed
        } else if is_unsupported(error) {
            StoreErrorKind::Unsupported
        } else if kind == StoreErrorKind::Unreadable && is_refused(error) {
            StoreErrorKind::NotSaved
        } else {
            kind
        };
        Self::new(kind, path, format!("`{}` {what}: {error}", path.display()))
    }
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self.kind {
            StoreErrorKind::Busy => Code::StateBusy,
            StoreErrorKind::Missing => Code::StateMissing,
            StoreErrorKind::Unreadable => Code::StateUnreadable,
            StoreErrorKind::OtherVersion => Code::StateVersion,
            StoreErrorKind::Exposed => Code::StateExposed,
            StoreErrorKind::Unsupported => Code::StateDisk,
            StoreErrorKind::NotSaved => Code::StateNotSaved,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StoreError {}

/// The reason why a file or folder is refused: someone else could have written it.
#[derive(Debug)]
pub struct Exposed(&'static str);

impl Exposed {
    /// An I/O error with this reason, which continues a sentence that begins with "it".
    pub fn error(reason: &'static str) -> io::Error {
        io::Error::other(Self(reason))
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it {}", self.0)
    }
}

impl std::error::Error for Exposed {}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &io::Error) -> bool {
    false
}

/// Whether permissions or a full disk stand in the way, so that the content is not to blame.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::PermissionDenied | Kind::ReadOnlyFilesystem | Kind::StorageFull | Kind::QuotaExceeded)
}

/// Whether the file system does not support the operation at all.
#[cfg(unix)]
fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let never = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::INVAL];
    error.raw_os_error().is_some_and(|raw| never.iter().any(|errno| errno.raw_os_error() == raw))
}

#[cfg(not(unix))]
fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_a_file_system_does_not_support_has_a_code_of_its_own() {
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
            let found = StoreError::from_io(StoreErrorKind::NotSaved, Path::new("f"), "cannot be written", &error);
            assert_eq!(found.code(), code, "{errno}");
        }
    }
}
