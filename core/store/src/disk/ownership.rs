//! Checks of ownership: a file or folder of the state is the user's own, and no other user can write to it (rules 8.4).

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;
#[cfg(unix)]
use std::sync::OnceLock;

use crate::error::{Exposed, StoreError, StoreErrorKind};

/// Whether a file or folder is the user's own and no other user can write to it.
///
/// # Errors
///
/// It is not: the error says why.
#[cfg(unix)]
pub fn check_own(data: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    // Asked once: no part of the program changes its user.
    static USER: OnceLock<u32> = OnceLock::new();
    if data.uid() != *USER.get_or_init(|| rustix::process::geteuid().as_raw()) {
        return Err(Exposed::error("belongs to another user"));
    }
    if data.mode() & 0o022 != 0 {
        return Err(Exposed::error("can be written by others than its owner"));
    }
    Ok(())
}

/// Whether the user owns this file or folder, or could change it; also where that is not known.
pub fn is_own(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let owner = |path: &Path| path.metadata().map(|data| data.uid() == rustix::process::geteuid().as_raw());
        let may = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
        let own = |path: &Path| owner(path).unwrap_or(true) || may(path);
        own(path) || path.parent().is_none_or(own)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        true
    }
}

/// Whether a file or folder is the user's own; not known on this system.
///
/// # Errors
///
/// None on this system.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on systems with owners and permissions")]
pub fn check_own(_data: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Checks the folders of a state. `top` itself may be reached through a link; the folders `inside` it, listed from the
/// outermost, may not. The check ends at the first folder that does not exist.
///
/// # Errors
///
/// `state-exposed`: a folder belongs to another user, others can write to it, or it is a link. `state-unreadable`: its
/// metadata cannot be read.
pub fn check_folders(top: &Path, inside: &[&Path]) -> Result<(), StoreError> {
    let found = [(top, top.metadata())];
    let inside = inside.iter().map(|path| (*path, path.symlink_metadata()));
    for (path, data) in found.into_iter().chain(inside) {
        let checked = match data {
            Ok(data) if data.is_symlink() => Err(Exposed::error("is a link")),
            Ok(data) => check_own(&data),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => Err(error),
        };
        checked.map_err(|error| StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be used", &error))?;
    }
    Ok(())
}

/// Opens a file of the state: a regular file, no link, the user's own, and no other user can write to it. A new file is
/// readable and writable by its owner alone.
///
/// # Errors
///
/// It cannot be opened, or one of these conditions does not hold.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    open_checked(path, options).map(|(file, _)| file)
}

fn open_checked(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(Exposed::error("is no regular file"));
    }
    check_own(&data)?;
    Ok((file, data))
}

/// The content of a file of the state, opened as by [`open_own`].
///
/// # Errors
///
/// As for [`open_own`], or it cannot be read.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let (file, data) = open_checked(path, OpenOptions::new().read(true))?;
    // Reading ends with the length that the file has, not with a further read that finds its end: files of the state are
    // replaced as a whole. `take` also keeps `File` from asking for the size and the position again.
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default());
    file.take(data.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_user_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let opened = || open_own(file.path(), OpenOptions::new().read(true));
        assert!(opened().is_ok());
        // Only the superuser can give files away; anyone else has not made `/etc/passwd`.
        let given = std::os::unix::fs::chown(file.path(), Some(12345), None).is_ok();
        let foreign = if given { opened() } else { open_own(Path::new("/etc/passwd"), OpenOptions::new().read(true)) };
        let unreadable = StoreErrorKind::Unreadable;
        let error = StoreError::from_io(unreadable, file.path(), "cannot be opened", &foreign.unwrap_err());
        assert_eq!(error.kind, StoreErrorKind::Exposed);
        assert!(error.message.contains("belongs to another user"), "{}", error.message);
    }
}
