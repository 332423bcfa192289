//! What a monitor reads: an event with its fields, and the call that is decided.

use alloc::string::String;
use alloc::vec::Vec;

use crate::leaf::{Leaf, Param, Pattern};
use crate::value::Value;

/// The fields of an event. Only fields that a condition names are asked for.
pub trait Fields {
    /// The value of the field, if it is there.
    fn field(&self, path: &[String]) -> Option<Value>;
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
    /// Its kind, for example `response`.
    pub kind: &'a str,
    /// Its fields.
    pub fields: &'a dyn Fields,
}

impl Fields for serde_json::Value {
    fn field(&self, path: &[String]) -> Option<Value> {
        json_at(self, path).map(Value::from_json)
    }
}

impl Fields for Value {
    fn field(&self, path: &[String]) -> Option<Value> {
        self.at(path).cloned()
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

impl Pattern {
    /// The values of the compared fields, if `event` has what the pattern says in advance.
    fn values(&self, event: &Event<'_>) -> Option<Vec<Value>> {
        if self.action != event.action || self.kind != event.kind || self.namespace != event.namespace {
            return None;
        }
        let equal = self.equal.iter().all(|wanted| event.fields.field(&wanted.path).as_ref() == Some(&wanted.value));
        if !equal || !self.present.iter().all(|path| event.fields.field(path).is_some()) {
            return None;
        }
        self.compared.iter().map(|field| event.fields.field(&field.path)).collect()
    }
}

impl Leaf {
    /// What `event` is to this condition.
    pub(crate) fn matches(&self, event: &Event<'_>) -> Matches {
        let positions = 0_u16..;
        positions
            .zip(&self.patterns)
            .filter_map(|(position, pattern)| Some((position, pattern.values(event)?)))
            .collect()
    }
}
