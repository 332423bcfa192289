//! The shell that this program stands in for.

use std::path::{Path, PathBuf};

use phasegate_adapter::CHAINED_SHELL;

/// Where shells are, beside PATH.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// The shell that a person chose, else the one of this name in PATH that is not this program.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|own| own.canonicalize().ok());
    let is_other = |path: &PathBuf| path.canonicalize().is_ok_and(|found| found.is_file() && Some(found) != own);
    let chained = std::env::var_os(CHAINED_SHELL).map(PathBuf::from).filter(|path| path.is_absolute());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    let named = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(Path::new(name)));
    chained.into_iter().chain(named).find(is_other)
}
