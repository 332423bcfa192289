//! The shell that this program stands in for.

use std::path::{Path, PathBuf};

use phasegate_adapter::CHAINED_SHELL;
use phasegate_runtime::clients::client_shell::is_own;

use crate::shell_probe::shell_variables;

/// Where shells are, beside PATH.
const FOLDERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// The shell that a person gave the client before, else their own if it has this name, else the one of this name that is
/// found in PATH. Ours is a script, and no program of theirs.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let variables = shell_variables();
    let is_other = |path: &PathBuf| path.is_file() && !path.to_str().is_some_and(|path| is_own(path, &variables));
    let given = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = given("SHELL").filter(|shell| shell.file_name().is_some_and(|own| own == name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    let named = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(Path::new(name)));
    given(CHAINED_SHELL).into_iter().chain(own).chain(named).find(is_other)
}
