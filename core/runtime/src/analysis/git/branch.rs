//! The branch that the working tree is on.

use std::path::{Path, PathBuf};

use crate::bounds::{self, MAX_FILE_BYTES};
use crate::project::repository::git_folder;

/// The branch that the repository of a folder is on.
pub(in crate::analysis) fn current(base: &Path) -> Option<String> {
    let head = bounds::read(&repository(base)?.join("HEAD"), MAX_FILE_BYTES).ok()?;
    let branch = head.trim_end().strip_prefix("ref: refs/heads/")?;
    (!branch.is_empty()).then(|| branch.to_owned())
}

/// Where the repository of a folder is kept.
pub(in crate::analysis) fn repository(base: &Path) -> Option<PathBuf> {
    if std::env::var_os("GIT_DIR").is_some() {
        return None;
    }
    git_folder(base.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?)
}
