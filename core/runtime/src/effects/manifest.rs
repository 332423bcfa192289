//! The manifest of a session: the watched folders and files, as they were when they were looked at last.

use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::Part;

use super::copies::Copied;
use super::stamp::Stamp;

/// The watched folders and files of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Manifest {
    /// The patterns of the paths that skills forbid to write, in order.
    pub(crate) globs: Vec<String>,
    /// When the watch began, in nanoseconds since 1970-01-01 UTC.
    pub(crate) began: i64,
    /// Whether there are more files or folders than are watched.
    pub(crate) capped: bool,
    /// The call that started something in the background, and until when that may go on.
    pub(crate) background: Option<Background>,
    pub(crate) folders: Vec<Folder>,
    /// Whether it is to be written.
    pub(crate) dirty: bool,
}

/// A call whose line leaves something running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Background {
    /// The time of its decision, in milliseconds since 1970-01-01 UTC: no other call of the session has it.
    pub(crate) since: i64,
    /// The platform's id of it.
    pub(crate) id: Option<String>,
}

/// What is watched in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The files that the patterns select.
    Globs,
    /// Every file, at any depth, of this part of what the guard depends on.
    Tree(Part),
    /// The `SKILL.md` in each of its folders.
    Skills,
    /// The files of these names, whether they exist or not.
    Named(Part),
    /// What a client obeys that is started in the folder, or in one of its folders.
    Starts,
}

impl Rule {
    /// What its files are to the guard; `None`: a skill names them.
    pub(crate) fn part(self) -> Option<Part> {
        match self {
            Self::Globs => None,
            Self::Tree(part) | Self::Named(part) => Some(part),
            Self::Starts => Some(Part::Settings),
            Self::Skills => Some(Part::Skill),
        }
    }
}

/// A watched folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) rule: Rule,
    /// As it was when its names were read; `None`: it was not there.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) files: Vec<WatchedFile>,
    /// The names in it that are ignored though a pattern may select them.
    pub(crate) ignored: Vec<String>,
}

/// A watched file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WatchedFile {
    pub(crate) name: String,
    pub(crate) stamp: Option<Stamp>,
    /// What is in it; `None`: it is not there.
    pub(crate) digest: Option<String>,
    pub(crate) copied: Option<Copied>,
}

impl Folder {
    pub(crate) fn new(path: PathBuf, rule: Rule) -> Self {
        Self { path, rule, stamp: None, files: Vec::new(), ignored: Vec::new() }
    }

    /// Watches a file of this name.
    pub(crate) fn add(&mut self, name: &str) {
        if !self.files.iter().any(|file| file.name == name) {
            self.files.push(WatchedFile { name: name.to_owned(), ..WatchedFile::default() });
        }
    }
}

impl Manifest {
    pub(crate) fn files(&self) -> usize {
        self.folders.iter().map(|folder| folder.files.len()).sum()
    }

    /// The watched file of this path.
    pub(crate) fn file(&self, path: &Path) -> Option<(&Folder, &WatchedFile)> {
        let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
        let here = self.folders.iter().filter(|one| one.path == folder);
        here.flat_map(|one| one.files.iter().map(move |file| (one, file))).find(|(_, file)| file.name == name)
    }
}

/// What the system says of a file of the state, so that a change by another hand shows.
pub(crate) fn mark_of(path: &Path) -> Option<String> {
    let mut mark = String::new();
    Stamp::of(path)?.write(&mut mark);
    Some(mark)
}
