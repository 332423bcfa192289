//! phasegate-schemas: the JSON Schemas of configs and events, and validation against them.
//!
//! The schemas are generated from the types in `phasegate-config` and `phasegate-core`; edit those, not the files.

mod explain;
mod problem;

use std::sync::OnceLock;

use jsonschema::Validator;
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
}

impl Kind {
    /// Every kind, in the order of their names.
    pub const ALL: [Self; 3] = [Self::Event, Self::Settings, Self::Skill];

    /// The kind's word: `skill`, `settings` or `event`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Settings => "settings",
            Self::Event => "event",
        }
    }

    /// The text of the schema, as in `schemas/`.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Skill => include_str!("../skill.schema.json"),
            Self::Settings => include_str!("../settings.schema.json"),
            Self::Event => include_str!("../event.schema.json"),
        }
    }

    fn compiled(self) -> &'static Result<Compiled, String> {
        static SKILL: OnceLock<Result<Compiled, String>> = OnceLock::new();
        static SETTINGS: OnceLock<Result<Compiled, String>> = OnceLock::new();
        static EVENT: OnceLock<Result<Compiled, String>> = OnceLock::new();
        let cell = match self {
            Self::Skill => &SKILL,
            Self::Settings => &SETTINGS,
            Self::Event => &EVENT,
        };
        cell.get_or_init(|| Compiled::new(self.text()))
    }
}

struct Compiled {
    schema: Value,
    validator: Validator,
}

impl Compiled {
    fn new(text: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let validator = jsonschema::draft202012::new(&schema).map_err(|error| error.to_string())?;
        Ok(Self { schema, validator })
    }
}

/// Every place where a document differs from its schema, in the document's order of keys; empty if it is valid.
///
/// A schema that cannot be used is a problem of the document's root: nothing is valid then.
#[must_use]
pub fn validate(kind: Kind, document: &Value) -> Vec<Problem> {
    match kind.compiled() {
        Ok(compiled) => compiled
            .validator
            .iter_errors(document)
            .flat_map(|error| explain::explain(&compiled.schema, &error))
            .collect(),
        Err(message) => vec![Problem { pointer: Vec::new(), kind: ProblemKind::Other(message.clone()) }],
    }
}
