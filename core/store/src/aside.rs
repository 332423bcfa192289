//! Sets a journal that cannot be used aside, so that another can begin in its place.

use std::io;
use std::path::Path;

use crate::active_disk::disk;
use crate::digest::sha256_hex;
use crate::disk::Disk as _;
use crate::error::{StoreError, StoreErrorKind};

/// What was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its new name, in the same folder.
    pub name: String,
    /// How many bytes it has; 0 where it is no regular file.
    pub bytes: u64,
    /// The SHA-256 digest of its content in hexadecimal digits; `None` where it is no regular file.
    pub sha256: Option<String>,
}

/// Renames what stands at this path to a name that no journal has; `None`: nothing stands there, or an empty file.
///
/// # Errors
///
/// `state-not-saved`: it cannot be read or renamed.
pub fn set_aside(path: &Path) -> Result<Option<Aside>, StoreError> {
    let failed = |error: io::Error| StoreError::from_io(StoreErrorKind::NotSaved, path, "cannot be set aside", &error);
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if found.is_file() && found.len() == 0 {
        return Ok(None);
    }
    let content = if found.is_file() { Some(std::fs::read(path).map_err(failed)?) } else { None };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let names = (1_u32..).map(|number| format!("{stem}.damaged-{number}"));
    let free = |name: &String| path.with_file_name(name).symlink_metadata().is_err();
    let name = { names }.find(free).unwrap_or_default();
    std::fs::rename(path, path.with_file_name(&name)).map_err(failed)?;
    path.parent().into_iter().for_each(|folder| disk().sync_folder(folder));
    let bytes = content.as_ref().map_or(0, |content| content.len() as u64);
    Ok(Some(Aside { name, bytes, sha256: content.map(|content| sha256_hex(&content)) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stands_there_makes_room_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.journal");
        assert_eq!(set_aside(&path).unwrap(), None);
        std::fs::write(&path, "").unwrap();
        assert_eq!(set_aside(&path).unwrap(), None);
        for (number, text) in [(1, "one"), (2, "two")] {
            std::fs::write(&path, text).unwrap();
            let aside = set_aside(&path).unwrap().unwrap();
            assert_eq!((aside.name, aside.bytes), (format!("k.damaged-{number}"), 3));
            assert_eq!(aside.sha256, Some(sha256_hex(text.as_bytes())));
        }
        std::fs::create_dir(&path).unwrap();
        assert_eq!(set_aside(&path).unwrap().unwrap().sha256, None);
        assert!(!path.exists() && folder.path().join("k.damaged-1").exists());
    }
}
