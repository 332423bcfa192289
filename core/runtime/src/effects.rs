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
pub(crate) mod watched;

use std::path::PathBuf;

use crate::project::Project;

/// The most files that are watched in a session.
pub(crate) const MAX_FILES: usize = 2000;
/// The most folders that are watched in a session.
pub(crate) const MAX_FOLDERS: usize = 2000;

/// The files of a session's manifest and of its copies, by the name that stands for the session.
#[must_use]
pub(crate) fn files_of(project: &Project, key: &str) -> [PathBuf; 2] {
    let folder = project.folder.join("effects");
    [folder.join(key), folder.join(format!("{key}.copies"))]
}
