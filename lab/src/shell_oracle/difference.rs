//! What a line did to files: the upper layer of an overlay against the lower one.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use serde::Serialize;

use xtask::failure::{Failure, Result};

/// Folders whose temporary files do not count.
const PASSING: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// A difference between what was and what is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// A file that was not there.
    Created(String),
    /// A file whose content, mode, owner or time is another, or a folder in which something came and went.
    Changed(String),
    /// A file that is gone.
    Deleted(String),
}

impl Change {
    /// The path as the line saw it.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Created(path) | Self::Changed(path) | Self::Deleted(path) => path,
        }
    }
}

/// Every difference below `upper`, named as seen from `shown` (without a slash at its end).
pub(super) fn between(upper: &Path, lower: &Path, shown: &str) -> Result<BTreeSet<Change>> {
    let mut changes = BTreeSet::new();
    folder(upper, lower, shown, &mut changes)?;
    Ok(changes)
}

fn folder(upper: &Path, lower: &Path, shown: &str, changes: &mut BTreeSet<Change>) -> Result {
    let entries = fs::read_dir(upper).map_err(|error| Failure::file(upper, error))?;
    for entry in entries.flatten() {
        let path = format!("{shown}/{}", entry.file_name().to_string_lossy());
        one(&entry.path(), &lower.join(entry.file_name()), path, changes)?;
    }
    Ok(())
}

fn one(upper: &Path, lower: &Path, shown: String, changes: &mut BTreeSet<Change>) -> Result {
    let new = fs::symlink_metadata(upper).map_err(|error| Failure::file(upper, error))?;
    let Ok(old) = fs::symlink_metadata(lower) else {
        if !is_whiteout(&new) {
            changes.insert(Change::Created(shown));
        }
        return Ok(());
    };
    if is_whiteout(&new) {
        changes.insert(Change::Deleted(shown));
    } else if new.is_dir() && old.is_dir() {
        let before = changes.len();
        folder(upper, lower, &shown, changes)?;
        let visited = new.mtime() != old.mtime() || new.mtime_nsec() != old.mtime_nsec();
        let passing = PASSING.contains(&shown.as_str()) || shown.ends_with("/.git");
        if !same_rights(&new, &old) || (visited && !passing && changes.len() == before) {
            changes.insert(Change::Changed(shown));
        }
    } else if !same(upper, &new, lower, &old) {
        changes.insert(Change::Changed(shown));
    }
    Ok(())
}

/// What an overlay puts where a file of the lower layer is gone.
fn is_whiteout(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == 0
}

fn same_rights(new: &Metadata, old: &Metadata) -> bool {
    (new.mode(), new.uid(), new.gid()) == (old.mode(), old.uid(), old.gid())
}

fn same(upper: &Path, new: &Metadata, lower: &Path, old: &Metadata) -> bool {
    let times = (new.mtime(), new.mtime_nsec()) == (old.mtime(), old.mtime_nsec());
    if !times || new.len() != old.len() || !same_rights(new, old) {
        return false;
    }
    if new.is_symlink() {
        return fs::read_link(upper).ok() == fs::read_link(lower).ok();
    }
    match (fs::read(upper), fs::read(lower)) {
        (Ok(new), Ok(old)) => new == old,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_are_found_and_copies_without_a_change_are_not() {
        let place = tempfile::tempdir().unwrap();
        let (upper, lower) = (place.path().join("upper"), place.path().join("lower"));
        fs::create_dir_all(upper.join("a")).unwrap();
        fs::create_dir_all(lower.join("a")).unwrap();
        fs::write(lower.join("a/kept"), "x").unwrap();
        fs::copy(lower.join("a/kept"), upper.join("a/kept")).unwrap();
        let time = fs::metadata(lower.join("a/kept")).unwrap().modified().unwrap();
        fs::File::options().write(true).open(upper.join("a/kept")).unwrap().set_modified(time).unwrap();
        fs::write(upper.join("a/new"), "y").unwrap();
        let found = between(&upper, &lower, "").unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [Change::Created("/a/new".into())]);
    }
}
