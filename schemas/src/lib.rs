//! phasegate-schemas: the JSON Schemas of configs and events, and validation against them.
//!
//! The schemas are generated from the types in `phasegate-config` and `phasegate-core`; edit those, not the files.
//! The validator knows the keywords that these schemas use and no others. A test compares it with a complete validator.

mod problem;
mod rule;
mod alternatives;
mod validator;

use std::sync::OnceLock;

use serde_json::Value;

pub use problem::{Problem, ProblemKind};

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A skill config.
    Skill,
    /// A settings file.
    Settings,
    /// A line of a neutral transcript.
    Event,
    /// The facts of a file of rules.
    Facts,
}

impl Kind {
    /// Every kind, in the order of their names.
    pub const ALL: [Self; 4] = [Self::Event, Self::Facts, Self::Settings, Self::Skill];

    /// The kind's word: `skill`, `settings`, `event` or `facts`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Settings => "settings",
            Self::Event => "event",
            Self::Facts => "facts",
        }
    }

    /// The text of the schema, as in `schemas/`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Skill => include_str!("../skill.schema.json"),
            Self::Settings => include_str!("../settings.schema.json"),
            Self::Event => include_str!("../event.schema.json"),
            Self::Facts => include_str!("../facts.schema.json"),
        }
    }

    fn schema(self) -> &'static Result<Value, String> {
        static SKILL: OnceLock<Result<Value, String>> = OnceLock::new();
        static SETTINGS: OnceLock<Result<Value, String>> = OnceLock::new();
        static EVENT: OnceLock<Result<Value, String>> = OnceLock::new();
        static FACTS: OnceLock<Result<Value, String>> = OnceLock::new();
        let cell = match self {
            Self::Skill => &SKILL,
            Self::Settings => &SETTINGS,
            Self::Event => &EVENT,
            Self::Facts => &FACTS,
        };
        cell.get_or_init(|| serde_json::from_str(self.text()).map_err(|error| error.to_string()))
    }
}

/// Lists every place where a document differs from its schema, in the order of the document's keys. The list is empty
/// if the document is valid.
///
/// A schema that cannot be read is a problem of the document's root: no document is valid then.
pub fn validate(kind: Kind, document: &Value) -> Vec<Problem> {
    match kind.schema() {
        Ok(schema) => validator::problems(schema, document),
        Err(message) => vec![Problem { pointer: Vec::new(), kind: ProblemKind::Other(message.clone()) }],
    }
}
