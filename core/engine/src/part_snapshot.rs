//! Parts of calls that are kept until their call ends: the fields that conditions over what happened before ask for
//! (rules 4.10).

use alloc::string::String;
use alloc::vec::Vec;

use phasegate_history::leaf::Path;
use phasegate_history::{Field, Fields, Value as Kept};
use serde::{Deserialize, Serialize};

use crate::status::Status;
use crate::test_report::TestRun;

/// The longest text that is kept, in bytes; of a longer one nothing is known.
const MAX_BYTES: usize = 1024;

/// A part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSnapshot {
    /// The id of the action.
    pub action: String,
    /// Its fields, by their paths; `null`: there is none. Of a field that is missing here, nothing is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(Path, Option<Kept>)>,
    /// Fields that cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unclear: Vec<Path>,
    /// The tests that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestRun>,
    /// What the exit status of the call says of it.
    pub status: Status,
    /// How many parts of calls had changed files before the call.
    #[serde(default)]
    pub began: Began,
}

/// How many parts of calls have changed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Began {
    /// In the session.
    pub session: u64,
    /// In all sessions of the project, where rules ask for them.
    pub project: u64,
}

impl PartSnapshot {
    /// A part of which nothing is noted yet.
    pub(crate) fn new(action: &str, tests: Option<TestRun>, status: Status) -> Self {
        let (fields, unclear, began) = (Vec::new(), Vec::new(), Began::default());
        Self { action: action.into(), fields, unclear, tests, status, began }
    }

    /// Notes a field. Where it was noted with another value, nothing is known of it.
    pub(crate) fn note(&mut self, path: &Path, field: Field) {
        let value = match field {
            Field::Is(value) if size(&value) <= MAX_BYTES => Some(Some(value)),
            Field::Absent => Some(None),
            Field::Is(_) | Field::Unclear => None,
        };
        let known = self.fields.iter().position(|(known, _)| known == path);
        match (known, value) {
            (Some(at), value) if self.fields.get(at).map(|(_, known)| known) == value.as_ref() => {}
            (None, Some(value)) if !self.unclear.contains(path) => self.fields.push((path.clone(), value)),
            (known, _) => {
                if let Some(at) = known {
                    self.fields.remove(at);
                }
                if !self.unclear.contains(path) {
                    self.unclear.push(path.clone());
                }
            }
        }
    }

    /// Whether the field was noted.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.unclear.contains(path) || self.fields.iter().any(|(known, _)| known == path)
    }
}

fn size(value: &Kept) -> usize {
    match value {
        Kept::Text(text) => text.len(),
        Kept::List(items) => items.iter().map(size).sum(),
        Kept::Record(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

impl Fields for PartSnapshot {
    fn field(&self, path: &[String]) -> Field {
        match self.fields.iter().find(|(known, _)| known == path) {
            Some((_, value)) => value.clone().into(),
            None => Field::Unclear,
        }
    }
}
