//! What a monitor reads: an event with its fields, and the call that is decided.

use alloc::string::String;
use alloc::vec::Vec;

use crate::leaf::{Leaf, Param, Pattern};
use crate::value::Value;

/// The fields of an event. Only fields that a condition names are asked for.
pub trait Fields {
    /// What is known of the field.
    fn field(&self, path: &[String]) -> Field;

    /// Whether the field has this value; `None`: that cannot be told.
    fn is(&self, path: &[String], value: &Value) -> Option<bool> {
        match self.field(path) {
            Field::Unclear => None,
            Field::Is(found) => Some(found == *value),
            Field::Absent => Some(false),
        }
    }
}

/// What is known of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// It is not there. No pattern that names it matches.
    Absent,
    /// It has this value.
    Is(Value),
    /// It has a value that cannot be told, as a word that the shell computes. A condition for which it matters is unknown
    /// for as long as the condition looks back.
    Unclear,
}

impl From<Option<Value>> for Field {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Absent, Self::Is)
    }
}

/// The call that is decided.
pub trait Request {
    /// The value that the parameter names, if it is there.
    fn param(&self, param: &Param) -> Option<Value>;
}

/// Something that happened, or that is about to.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// Milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The type of its action, for example `Guard::Action`.
    pub namespace: &'a str,
    /// The id of its action, for example `Edit`.
    pub action: &'a str,
    /// Further ids under which patterns may name the action: those that stand for many.
    pub also: &'a [&'a str],
    /// Its kind, for example `response`.
    pub kind: &'a str,
    /// Its fields.
    pub fields: &'a dyn Fields,
}

impl Fields for serde_json::Value {
    fn field(&self, path: &[String]) -> Field {
        json_at(self, path).map(Value::from_json).into()
    }
}

impl Fields for Value {
    fn field(&self, path: &[String]) -> Field {
        self.at(path).cloned().into()
    }
}

impl Value {
    /// The value at `path` in this record.
    #[must_use]
    pub fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| match value {
            Self::Record(members) => members.get(name),
            _ => None,
        })
    }
}

/// The value at `path` in `json`.
pub(crate) fn json_at<'a>(json: &'a serde_json::Value, path: &[String]) -> Option<&'a serde_json::Value> {
    path.iter().try_fold(json, |value, name| value.as_object()?.get(name))
}

/// The values of the compared fields of each pattern that an event matches, by the pattern's position.
pub(crate) type Matches = Vec<(u16, Vec<Value>)>;

/// A field decides whether a pattern matches, and cannot be told.
pub(crate) struct Unclear;

impl Pattern {
    /// The values of the compared fields, if `event` has what the pattern says in advance.
    fn values(&self, event: &Event<'_>) -> Result<Option<Vec<Value>>, Unclear> {
        let named = self.action == event.action || event.also.contains(&self.action.as_str());
        if !named || self.kind != event.kind || self.namespace != event.namespace {
            return Ok(None);
        }
        let mut unclear = false;
        for wanted in &self.equal {
            match event.fields.is(&wanted.path, &wanted.value) {
                None => unclear = true,
                Some(true) => {}
                Some(false) => return Ok(None),
            }
        }
        if self.present.iter().any(|path| event.fields.field(path) == Field::Absent) {
            return Ok(None);
        }
        let mut values = Vec::new();
        for compared in &self.compared {
            match event.fields.field(&compared.path) {
                Field::Unclear => unclear = true,
                Field::Is(value) => values.push(value),
                Field::Absent => return Ok(None),
            }
        }
        if unclear { Err(Unclear) } else { Ok(Some(values)) }
    }
}

impl Leaf {
    /// What `event` is to this condition.
    pub(crate) fn matches(&self, event: &Event<'_>) -> Result<Matches, Unclear> {
        let mut matches = Matches::new();
        for (position, pattern) in (0_u16..).zip(&self.patterns) {
            if let Some(values) = pattern.values(event)? {
                matches.push((position, values));
            }
        }
        Ok(matches)
    }
}
