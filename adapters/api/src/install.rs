//! Installing as data: which files would change, and how. The CLI shows, applies and undoes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an installation is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallRequest {
    /// The project's root folder.
    pub project: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The command that runs phasegate: an absolute path, or a name found through `PATH`.
    pub command: String,
    /// Whose settings are changed.
    pub scope: InstallScope,
    /// The settings files that exist, with their present text.
    pub existing: BTreeMap<PathBuf, String>,
}

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// The project's, shared with everybody who works on it.
    Project,
    /// The user's, for every project.
    User,
}

/// One file's change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// Its text before; `None` if it does not exist.
    pub before: Option<String>,
    /// Its text after; `None` removes it.
    pub after: Option<String>,
}
