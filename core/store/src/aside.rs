//! Sets a journal that cannot be used aside, so that another can begin in its place.

use std::io;
use std::path::Path;

use crate::digest::sha256_hex;
use crate::disk::Disk as _;
use crate::disk::active_disk::disk;
use crate::error::{StoreError, StoreErrorKind};
use crate::parts::part;

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

/// Renames what stands at this path, and then the sealed parts of this journal in their order, to names that no journal
/// has. `None`: nothing stands there, or an empty file.
///
/// # Errors
///
/// `state-not-saved`: it cannot be read or renamed.
pub fn set_aside(path: &Path) -> Result<Option<Aside>, StoreError> {
    let aside = file_aside(path)?;
    for number in 1.. {
        let part = part(path, number);
        if part.symlink_metadata().is_err() {
            break;
        }
        rename(&part, path).map_err(|error| failed(&part, &error))?;
    }
    path.parent().into_iter().for_each(|folder| disk().sync_folder(folder));
    Ok(aside)
}

fn file_aside(path: &Path) -> Result<Option<Aside>, StoreError> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, &error)),
    };
    if found.is_file() && found.len() == 0 {
        return Ok(None);
    }
    let content = if found.is_file() { Some(std::fs::read(path).map_err(|error| failed(path, &error))?) } else { None };
    let name = rename(path, path).map_err(|error| failed(path, &error))?;
    let bytes = content.as_ref().map_or(0, |content| content.len() as u64);
    Ok(Some(Aside { name, bytes, sha256: content.map(|content| sha256_hex(&content)) }))
}

/// Gives a file of this journal a name that no file has yet, and returns that.
fn rename(file: &Path, journal: &Path) -> io::Result<String> {
    let stem = journal.file_stem().unwrap_or_default().to_string_lossy();
    let names = (1_u32..).map(|number| format!("{stem}.damaged-{number}"));
    let free = |name: &String| journal.with_file_name(name).symlink_metadata().is_err();
    let name = { names }.find(free).unwrap_or_default();
    std::fs::rename(file, journal.with_file_name(&name))?;
    Ok(name)
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::from_io(StoreErrorKind::NotSaved, path, "cannot be set aside", error)
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
        std::fs::write(part(&path, 1), "first").unwrap();
        assert_eq!(set_aside(&path).unwrap(), None);
        assert_eq!(std::fs::read(folder.path().join("k.damaged-3")).unwrap(), b"first");
        assert!(!part(&path, 1).exists());
        std::fs::create_dir(&path).unwrap();
        assert_eq!(set_aside(&path).unwrap().unwrap().sha256, None);
        assert!(!path.exists() && folder.path().join("k.damaged-1").exists());
    }
}
