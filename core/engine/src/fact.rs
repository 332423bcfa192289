//! Facts: what lies outside the journal, asked for by key and given with its source.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

/// What the engine wants to know about the world before it can decide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactKey {
    /// Whether the file at this path exists, and the digest of its bytes. Paths are relative to the project.
    File(String),
    /// How often a text occurs in a file, without overlaps.
    Count {
        /// The file's path, relative to the project.
        path: String,
        /// The text that is counted, byte for byte; an empty one is never known.
        text: String,
    },
}

/// The answer to a [`FactKey`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactValue {
    /// The file exists and its bytes have this SHA-256 digest (hexadecimal).
    File(String),
    /// The file does not exist.
    Absent,
    /// The text occurs so many times, overlaps not counted.
    Count(u64),
    /// It could not be found out. Satisfies nothing.
    Unknown,
}

/// Where a fact comes from (rules 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The guard looked itself.
    Guard,
    /// A person said it.
    Human,
    /// The agent claims it.
    Agent,
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The answer to the key it is kept under.
    pub value: FactValue,
    /// Where it comes from. What the agent claims satisfies no condition that does not say so.
    pub source: Source,
}

impl From<FactValue> for Fact {
    /// What the guard saw itself.
    fn from(value: FactValue) -> Self {
        Self { value, source: Source::Guard }
    }
}

/// What was gathered, by key.
pub type Facts = BTreeMap<FactKey, Fact>;

impl Serialize for FactKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(path) => serializer.collect_str(&format_args!("file:{path}")),
            Self::Count { path, text } => {
                serializer.collect_str(&format_args!("count:{}", serde_json::json!([path, text])))
            }
        }
    }
}

impl<'de> Deserialize<'de> for FactKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some(path) = text.strip_prefix("file:") {
            return Ok(Self::File(path.into()));
        }
        text.strip_prefix("count:")
            .and_then(|rest| serde_json::from_str::<(String, String)>(rest).ok())
            .map(|(path, text)| Self::Count { path, text })
            .ok_or_else(|| serde::de::Error::custom("a fact key begins with `file:` or `count:`"))
    }
}
