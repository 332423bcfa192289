//! Artifacts as written: their files, and what these must be.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::matcher::ArgSource;

/// An artifact: the files that its paths select. Where a phase produces it, those that are new or changed since the run
/// entered the newest such phase.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArtifactSource {
    /// Its files: paths with `*`, `?`, `**` and `{a,b}`, relative to the project. A path may be an object that says that it is
    /// deprecated.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub path: Vec<ArtifactPath>,
    /// What each of its files must be for the artifact to be there: rules, or the file of them below `.phasegate`
    /// (`formats/NAME.yaml`).
    #[serde(default)]
    pub format: Option<FormatSource>,
    /// `true`: only those of its files count that a call of the run wrote, so that of two sessions each has its own.
    #[serde(default)]
    pub own: bool,
}

/// A path of an artifact.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ArtifactPath {
    /// A path.
    Path(String),
    /// A path, and whether it is deprecated.
    Object(ArtifactPathObject),
}

/// A path of an artifact, and whether it is deprecated.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArtifactPathObject {
    /// The path, in the same form.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub glob: String,
    /// `true`: a file there counts, and the agent and the person are told to put it elsewhere.
    #[serde(default)]
    pub deprecated: bool,
}

/// What files must be: rules, or the file that has them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FormatSource {
    /// A file of the folder `formats` beside `config.yaml`, YAML with the keys of a format.
    File(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] String),
    /// The rules.
    Rules(Box<FormatObject>),
}

/// What files must be: Markdown of some form, or JSON that a JSON Schema describes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct FormatObject {
    /// The files are JSON that this JSON Schema describes: a file of the folder `schemas` beside `config.yaml`. No other key
    /// stands beside it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub schema: Option<String>,
    /// The first heading, which is of level 1.
    pub title: Option<LineSource>,
    /// Headings that the file has, each with text in its section. Only headings of the document itself count: not one in a
    /// sentence, a list or a block of code.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub sections: Option<Vec<LineSource>>,
    /// The least number of words of each of these sections. Without `sections`: of the whole text.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub min_words: Option<u64>,
    /// Lines that the text has, outside of blocks of code. What marks a list, and signs of emphasis, do not count.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub lines: Option<Vec<LineSource>>,
    /// The last line that is not empty. It counts as text of no section.
    pub last_line: Option<LineSource>,
    /// Fields of the YAML between the leading `---` lines, by name, as arguments are tested; a dot selects a field of an
    /// object.
    pub front_matter: BTreeMap<String, ArgSource>,
}

/// What a heading or a line must be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum LineSource {
    /// This text.
    Text(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] String),
    /// A text that matches.
    Pattern(LinePattern),
}

/// What a heading or a line must match.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinePattern {
    /// A regular expression that the whole line matches.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub matches: String,
}
