//! Groups of files: a name for what several patterns select, less what others do.

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What the stored form of a group begins with. No pattern of a config does: it has no quotes in its braces.
const BEGIN: &str = "{\"group\":";

/// A group of files. It is stored as a text wherever a pattern of paths may stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name, for example `tests`.
    #[serde(rename = "group")]
    pub name: String,
    /// What one of its files is, as a noun phrase: `a test file (tests/**, test_*)`.
    pub say: String,
    /// What it selects.
    pub files: FileSet,
}

/// What patterns select, less what others do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSet {
    /// A file has to fit one of these.
    pub any: Vec<Files>,
    /// It must fit none of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Files>,
}

/// Files, by a pattern or by several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Files {
    /// A pattern of paths, as [`path_fits`](super::path_fits) has it.
    Pattern(String),
    /// What patterns select, less what others do.
    Set(FileSet),
}

impl Group {
    /// The group of a stored text; `None`: it is a pattern.
    pub fn read(text: &str) -> Option<Self> {
        text.starts_with(BEGIN).then(|| serde_json::from_str(text).ok())?
    }

    /// The text that it is stored as.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl FileSet {
    /// The patterns of what it may select.
    pub(super) fn patterns(&self) -> Vec<&str> {
        fn of(files: &Files) -> Vec<&str> {
            match files {
                Files::Pattern(pattern) => alloc::vec![pattern.as_str()],
                Files::Set(set) => set.patterns(),
            }
        }
        self.any.iter().flat_map(of).collect()
    }
}
