//! Tasks, as files of the project say.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The tasks of one folder, by name.
pub(super) struct Tasks {
    /// The folder in which they run.
    pub(super) folder: PathBuf,
    pub(super) all: BTreeMap<String, Task>,
    /// The files that say so.
    pub(super) from: Vec<PathBuf>,
    /// Whether a name that no task has is one of a file.
    pub(super) files: bool,
}

/// A task.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    /// The texts that a shell runs, one after the other; `None`: nobody can tell.
    pub(super) lines: Option<Vec<String>>,
    /// The tasks that run besides.
    pub(super) others: Vec<String>,
}
