//! Tasks, as files of the project say.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What stands in a text in the place of what is filled in when the task runs.
pub(super) const HOLE: &str = "$hole";

/// The tasks of one folder.
pub(super) struct Tasks {
    /// The folder in which they run.
    pub(super) folder: PathBuf,
    /// The files that say so.
    pub(super) from: Vec<PathBuf>,
    pub(super) said: Said,
}

/// What files say of tasks.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The tasks by name.
    pub(super) all: BTreeMap<String, Task>,
    /// The one that runs where none is named.
    pub(super) first: Option<String>,
    /// Whether more may be said elsewhere, or in a way that is not read.
    pub(super) unsure: bool,
}

/// A task.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    /// The texts that a shell runs, one after the other.
    pub(super) texts: Vec<String>,
    /// The tasks that run besides.
    pub(super) others: Vec<String>,
    /// Whether it may run something else than these.
    pub(super) unsure: bool,
}

impl Said {
    /// What is said by a file that cannot be read.
    pub(super) fn nothing() -> Self {
        Self { unsure: true, ..Self::default() }
    }
}

impl Task {
    /// Adds a text. What a template fills in is a hole; a script of another language is none of a shell.
    pub(super) fn add(&mut self, text: &str) {
        let first = text.lines().next().unwrap_or_default();
        if first.starts_with("#!") && !first.ends_with("/sh") && !first.ends_with("bash") {
            self.unsure = true;
            return;
        }
        let mut rest = text;
        let mut all = String::new();
        while let Some((before, after)) = rest.split_once("{{").or_else(|| rest.split_once("{%")) {
            all.push_str(before);
            all.push_str(HOLE);
            rest = after.split_once("}}").or_else(|| after.split_once("%}")).map_or("", |(_, rest)| rest);
            self.unsure = true;
        }
        all.push_str(rest);
        self.texts.push(all);
    }
}
