//! The compiled form of a temporal condition: plain data, made by the compiler and shipped with rules.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// One temporal condition. A Cedar rule reads its truth as `context.<field>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    /// The field of the Cedar context that takes the truth of the condition.
    pub field: String,
    /// Names the condition by its content. A state is kept under this name, so equal conditions share one.
    pub key: String,
    /// Whose events it sees.
    pub scope: Scope,
    /// The patterns of events that the condition names.
    pub patterns: Vec<Pattern>,
    /// What it reads from the call that is decided.
    pub params: Vec<Param>,
    /// How many variables it has.
    pub variables: u16,
    /// The tables in which a state keeps past events: one for each outermost temporal operator.
    pub tables: Vec<TableSpec>,
    /// What must hold.
    pub condition: Condition,
}

/// Whose events a leaf sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The events of the session that makes the call.
    #[default]
    Session,
    /// The events of all sessions of the project.
    Project,
}

/// Which events match: an action, a kind, and what their fields must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The type of the action, for example `Guard::Action`.
    pub namespace: String,
    /// The id of the action, for example `Edit`.
    pub action: String,
    /// The kind of event, for example `response`.
    pub kind: String,
    /// Fields that must have a value which is known in advance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<FieldIs>,
    /// Fields that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<Path>,
    /// Fields that a variable or the decided call is compared with. A state keeps their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<FieldMatches>,
}

/// The names on the way to a field, from outside in.
pub type Path = Vec<String>;

/// A field that must equal a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldIs {
    /// The field.
    pub path: Path,
    /// Its value.
    pub value: Value,
}

/// A field that must equal what is known when the call is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldMatches {
    /// The field.
    pub path: Path,
    /// A variable, which takes the field's value if it has none yet; or a value of the decided call.
    pub term: Term,
}

/// A value of the call that is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Where it is read.
    pub root: Root,
    /// The names on the way to it; for a principal or resource itself, none.
    pub path: Path,
}

/// Where a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// The context of the decided call.
    Context,
    /// Who calls.
    Principal,
    /// What is called.
    Resource,
}

/// How a state keeps the past events of one temporal operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// Milliseconds after which an event cannot matter any more.
    pub horizon: i64,
    /// How many of the latest equal events are kept; absent: all within the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
    /// Whether events that match no pattern are kept too.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub others: bool,
    /// The patterns whose matches are kept, as positions in [`Leaf::patterns`], in rising order.
    pub patterns: Vec<u16>,
}

/// A condition, at one point of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Both hold. Variables that the first gives a value are known to the second.
    And(Box<Condition>, Box<Condition>),
    /// At least one holds.
    Or(Box<Condition>, Box<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// The event matches the pattern at this position.
    Matches(u16),
    /// Two values compare so.
    Compare(Comparison, Term, Term),
    /// Some value of the variable makes it hold.
    Exists(u16, Box<Condition>),
    /// The variable is the number of this point.
    Point(u16),
    /// It held at this or an earlier point within the window.
    Formerly(Window, Box<Condition>),
    /// It held at the point before, and that is within the window.
    Previous(Window, Box<Condition>),
    /// The second held at this or an earlier point within the window, and the first at every point after that one.
    Since(Window, Box<Condition>, Box<Condition>),
}

/// How far back an operator looks, and where its events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Milliseconds, inclusive.
    pub within: i64,
    /// The position in [`Leaf::tables`].
    pub table: u16,
}

/// How two values compare. Order is defined for integers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// Equal.
    #[serde(rename = "==")]
    Equal,
    /// Unequal.
    #[serde(rename = "!=")]
    Unequal,
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// Less or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Greater or equal.
    #[serde(rename = ">=")]
    AtLeast,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// A value that is known in advance.
    Value(Value),
    /// A variable.
    Variable(u16),
    /// A value of the decided call, as a position in [`Leaf::params`].
    Param(u16),
    /// The number of distinct values of these variables with which the condition holds.
    Count(Vec<u16>, Box<Condition>),
    /// The sum of the first variable over the distinct values of all of them with which the condition holds.
    Sum(u16, Vec<u16>, Box<Condition>),
    /// Nothing that could be known: no comparison with it holds.
    Nothing,
}
