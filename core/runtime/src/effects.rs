//! Effects: what calls did to files, seen by comparing content before and after them (rules 4.11).
//!
//! A session's manifest names the files that the skills of its runs forbid to write by path, and those that the guard and
//! the clients depend on. A call that may do more than read is decided after a look, and its outcome brings another one.

pub(crate) mod stamp;
pub(crate) mod content;
pub(crate) mod copies;
mod ignores;
mod listing;
pub(crate) mod manifest;
mod text;
pub(crate) mod look;
pub(crate) mod directory_snapshot;

use std::path::PathBuf;

pub(crate) use self::content::digest;
use crate::project::Project;

/// The most files that are watched in a session.
pub(crate) const MAX_FILES: usize = 2000;
/// The most folders that are watched in a session.
pub(crate) const MAX_FOLDERS: usize = 2000;

/// The file of a session's manifest with this number, by the name that stands for the session. Two take turns: the one that
/// the last record names stays as it is until the next one is recorded.
pub(crate) fn manifest_file(project: &Project, key: &str, number: u64) -> PathBuf {
    project.folder.join("effects").join(format!("{key}.{}", number % 2))
}

/// The file of a session's copies, by the name that stands for the session.
pub(crate) fn copies_file(project: &Project, key: &str) -> PathBuf {
    project.folder.join("effects").join(format!("{key}.copies"))
}

/// The files that are kept of what is watched in a session, by the name that stands for the session.
pub(crate) fn files_of(project: &Project, key: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project.folder.join("effects")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.file_stem().is_some_and(|stem| stem == key)).collect()
}
