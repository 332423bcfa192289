//! Facts: what lies outside the journal, asked for by key and given with its source.
//!
//! The set of facts is open. The engine knows no fact by name: it asks by source and arguments, and compares values.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prelude::*;

/// What the engine wants to know about the world before it can decide: a source and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactKey {
    source: String,
    /// The arguments as text: a string as it is, every other value as JSON.
    args: String,
}

impl FactKey {
    /// The key of what a source answers to these arguments: a text, a list or an object.
    pub fn new(source: &str, args: &Value) -> Self {
        let args = match args {
            Value::String(text) if !reads_as_json(text) => text.clone(),
            args => args.to_string(),
        };
        Self { source: source.to_string(), args }
    }

    /// The name of the source, for example `file`. It has no colon.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The arguments, in the form that the source asks for.
    pub fn args(&self) -> Value {
        let json = reads_as_json(&self.args).then(|| serde_json::from_str(&self.args).ok()).flatten();
        json.unwrap_or_else(|| Value::from(self.args.as_str()))
    }
}

/// Whether a text could be taken for the JSON of arguments.
fn reads_as_json(text: &str) -> bool {
    text.starts_with(['[', '{', '"'])
}

/// The answer to a [`FactKey`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactValue {
    /// What was asked about is there, and this is its value.
    Known(Value),
    /// What was asked about does not exist.
    Absent,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Writes `SOURCE:ARGUMENTS`, for example `file:plan.md` or `count:["plan.md","- [x]"]`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}:{}", self.source, self.args))
    }
}

impl<'de> Deserialize<'de> for FactKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.split_once(':') {
            Some((source, args)) => Ok(Self { source: source.to_string(), args: args.to_string() }),
            None => Err(serde::de::Error::custom("a fact key is a source, a colon and arguments")),
        }
    }
}
