//! What a confined command did.

use serde::{Deserialize, Serialize};

use crate::level::Level;

/// How a confined command ended, and what of it was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The level that held it.
    pub level: Level,
    /// The command's own exit status; 128 and the number of the signal that ended it.
    pub status: u8,
    /// What it changed and what is gone again, sorted by path. Only [`Level::Overlay`] knows it.
    pub changes: Vec<Change>,
    /// How many changes are not listed, because there are more than [`Report::MOST`].
    pub more: usize,
    /// Whether it changed caches too, or folders that the project ignores, which are never listed.
    #[serde(default)]
    pub caches: bool,
}

impl Report {
    /// The most changes that a report lists.
    pub const MOST: usize = 500;

    /// A report without changes.
    pub fn ended(level: Level, status: u8) -> Self {
        Self { level, status, changes: Vec::new(), more: 0, caches: false }
    }
}

/// A change that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// The file, or a folder that is new, gone or has other rights. What is no Unicode is replaced.
    pub path: String,
    /// What happened to it.
    pub kind: Kind,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is new.
    Added,
    /// Its content, rights or kind are others.
    Modified,
    /// It is gone.
    Removed,
}

impl Kind {
    /// One letter, as git writes it.
    pub fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Removed => 'D',
        }
    }
}
