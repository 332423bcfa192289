//! Values as rules see them, and what is known of a comparison.

use alloc::rc::Rc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::expr::{Piece, is_like, may_meet, surely_has};
use crate::tools::Kind;

/// A value. Texts belong to the request or to the rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Long(i64),
    /// A text.
    Text(&'a str),
    /// A text that is this one or another: a program that lies in a folder of the project and has the name of a known one.
    Maybe(&'a str),
    /// One of these texts, or another that is none of the call's words: the subcommand behind an option that may have a value.
    Among(Rc<[&'a str]>),
    /// A text of which a part is known: the name of a file that a shell makes.
    Shape(Shape<'a>),
    /// An entity.
    Entity(Entity<'a>),
    /// A set.
    Set(Rc<[Value<'a>]>),
    /// A record.
    Record(Record<'a>),
    /// A value that cannot be known before the call runs.
    Unknown,
}

/// What is known of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape<'a> {
    /// What it is made of.
    pub pieces: &'a [Piece],
    /// Whether it may begin with a dot.
    pub hidden: bool,
    /// Whether what is not known of it has no slash.
    pub flat: bool,
}

impl Shape<'_> {
    /// Whether it may be this text.
    pub fn may_be(&self, text: &str) -> bool {
        let is = || match self.flat && text.contains('/') {
            true => may_meet(self.pieces, &[Piece::Text(text.into())], true),
            false => is_like(text, self.pieces),
        };
        (self.hidden || !text.starts_with('.')) && is()
    }

    /// Whether every text that it may be has the pattern.
    pub fn has(&self, pattern: &[Piece]) -> bool {
        surely_has(self.pieces, pattern)
    }

    /// Whether some text that it may be has the pattern.
    pub fn may_have(&self, pattern: &[Piece]) -> bool {
        let dotted = matches!(pattern.first(), Some(Piece::Text(start)) if start.starts_with('.'));
        (self.hidden || !dotted) && may_meet(self.pieces, pattern, self.flat)
    }
}

/// A type and an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity<'a> {
    /// The type, for example `Agent`.
    pub kind: &'a str,
    /// The id.
    pub id: &'a str,
}

/// The fields of a record, each name once.
pub type Record<'a> = Rc<[(&'a str, Value<'a>)]>;

/// What is known of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// It does not hold.
    No,
    /// It may hold.
    Unknown,
    /// It cannot be evaluated.
    Failed,
    /// It holds.
    Yes,
}

impl Truth {
    /// `Yes` or `No`.
    pub fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Whether it does not hold.
    pub fn is_no(&self) -> bool {
        *self == Self::No
    }
}

impl<'a> Value<'a> {
    /// A record of these fields.
    pub fn record(fields: Vec<(&'a str, Self)>) -> Self {
        Self::Record(fields.into())
    }

    /// A set of these values.
    pub fn set(values: impl IntoIterator<Item = Self>) -> Self {
        Self::Set(values.into_iter().collect())
    }

    /// The value of an argument. `None`: `null`, which counts as absent. Numbers that are not whole are unknown.
    pub fn of_json(value: &'a serde_json::Value) -> Option<Self> {
        use serde_json::Value as Json;
        Some(match value {
            Json::Null => return None,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => number.as_i64().map_or(Self::Unknown, Self::Long),
            Json::String(text) => Self::Text(text),
            Json::Array(items) => Self::set(items.iter().map(|item| Self::of_json(item).unwrap_or(Self::Unknown))),
            Json::Object(fields) => {
                let known = fields.iter().filter_map(|(name, value)| Some((name.as_str(), Self::of_json(value)?)));
                Self::record(known.collect())
            }
        })
    }

    /// The value of an argument that is of this kind: unknown where it is of another.
    pub fn of_kind(value: &'a serde_json::Value, kind: Kind) -> Option<Self> {
        let found = Self::of_json(value)?;
        let fits = match (kind, &found) {
            (Kind::Text, Self::Text(_)) | (Kind::Number, Self::Long(_)) | (Kind::Flag, Self::Bool(_)) => true,
            (Kind::Texts, Self::Set(items)) => items.iter().all(|item| matches!(item, Self::Text(_))),
            _ => false,
        };
        Some(if fits { found } else { Self::Unknown })
    }

    /// Whether some of it is unknown.
    fn is_unclear(&self) -> bool {
        match self {
            Self::Unknown | Self::Maybe(_) | Self::Among(_) | Self::Shape(_) => true,
            Self::Set(items) => items.iter().any(Self::is_unclear),
            Self::Record(fields) => fields.iter().any(|(_, value)| value.is_unclear()),
            Self::Bool(_) | Self::Long(_) | Self::Text(_) | Self::Entity(_) => false,
        }
    }

    /// Whether two values are equal. Values of different types are not.
    pub fn equals(&self, other: &Self) -> Truth {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Truth::Unknown,
            (Self::Maybe(one), Self::Text(other) | Self::Maybe(other)) | (Self::Text(one), Self::Maybe(other)) => {
                if one == other { Truth::Unknown } else { Truth::No }
            }
            (Self::Among(all), Self::Text(text) | Self::Maybe(text))
            | (Self::Text(text) | Self::Maybe(text), Self::Among(all)) => {
                if all.contains(text) {
                    Truth::Unknown
                } else {
                    Truth::No
                }
            }
            (Self::Among(_), Self::Among(_) | Self::Shape(_)) | (Self::Shape(_), Self::Among(_)) => Truth::Unknown,
            (Self::Shape(shape), Self::Text(text) | Self::Maybe(text))
            | (Self::Text(text) | Self::Maybe(text), Self::Shape(shape)) => {
                if shape.may_be(text) {
                    Truth::Unknown
                } else {
                    Truth::No
                }
            }
            (Self::Shape(_), Self::Shape(_)) => Truth::Unknown,
            (Self::Bool(one), Self::Bool(other)) => Truth::of(one == other),
            (Self::Long(one), Self::Long(other)) => Truth::of(one == other),
            (Self::Text(one), Self::Text(other)) => Truth::of(one == other),
            (Self::Entity(one), Self::Entity(other)) => Truth::of(one == other),
            (Self::Set(one), Self::Set(other)) => {
                if self.is_unclear() || other_is_unclear(other) {
                    return Truth::Unknown;
                }
                let within = |one: &[Self], other: &[Self]| one.iter().all(|item| contains(other, item) == Truth::Yes);
                Truth::of(within(one, other) && within(other, one))
            }
            (Self::Record(one), Self::Record(other)) => same_fields(one, other),
            _ => Truth::No,
        }
    }
}

fn other_is_unclear(items: &[Value<'_>]) -> bool {
    items.iter().any(Value::is_unclear)
}

fn same_fields(one: &[(&str, Value<'_>)], other: &[(&str, Value<'_>)]) -> Truth {
    if one.len() != other.len() {
        return Truth::No;
    }
    let mut all = Truth::Yes;
    for (name, value) in one {
        let Some((_, found)) = other.iter().find(|(known, _)| known == name) else { return Truth::No };
        all = all.min(value.equals(found));
    }
    all
}

/// Whether a set has an element.
pub(crate) fn contains(items: &[Value<'_>], wanted: &Value<'_>) -> Truth {
    let mut best = Truth::No;
    for item in items {
        match item.equals(wanted) {
            Truth::Yes => return Truth::Yes,
            found => best = best.max(found),
        }
    }
    best
}

/// The field of this name.
pub(crate) fn field<'v, 'a>(fields: &'v [(&'a str, Value<'a>)], name: &str) -> Option<&'v Value<'a>> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}
