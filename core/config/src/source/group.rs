//! Groups of files as written.

use serde::Deserialize;

/// A group of files. `"@NAME"` stands for it wherever a path stands.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct GroupSource {
    /// The files of a group of your own.
    pub files: Option<FilesSource>,
    /// Of these files, those that are not meant.
    pub except: Option<FilesSource>,
    /// In a config, of a shipped group: files that belong to it besides, for every skill. They leave the other groups.
    pub add: Option<FilesSource>,
    /// In a config, of a shipped group: files that do not belong to it.
    pub take: Option<FilesSource>,
    /// What one of the files is, as a noun phrase that messages use: `a test file`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub say: Option<String>,
}

/// Files: one path or group, or a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FilesSource {
    /// Each of these. It is tried first: two paths would make a set too.
    AnyOf(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<FileSource>),
    /// A path with `*`, `?`, `**` and `{a,b}`, or a group (`"@tests"`).
    One(FileSource),
}

/// Files: a path, or what several select, less others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FileSource {
    /// A path with `*`, `?`, `**` and `{a,b}`, or a group (`"@tests"`).
    Path(String),
    /// What paths select, less what others do.
    Set(Box<FileSetSource>),
}

/// What paths select, less what others do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileSetSource {
    /// The files.
    pub files: FilesSource,
    /// Of these files, those that are not meant.
    #[serde(default)]
    pub except: Option<FilesSource>,
}

/// A path, or several of which one is meant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PathSource {
    /// This one.
    One(String),
    /// One of these.
    AnyOf(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<String>),
}

impl FilesSource {
    pub(crate) fn each(&self) -> &[FileSource] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::AnyOf(all) => all,
        }
    }
}

impl PathSource {
    pub(crate) fn each(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::AnyOf(all) => all,
        }
    }
}
