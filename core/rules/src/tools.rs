//! The tools that rules know, with their arguments.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A list of texts, as a set.
    Texts,
}

/// A tool as rules know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolShape {
    /// The id of its action: `Bash`, or `SERVER/TOOL`.
    pub action: String,
    /// What it can do. None: that is not known.
    pub labels: Vec<String>,
    /// Its arguments. Each may be absent.
    pub arguments: BTreeMap<String, Kind>,
}

/// The arguments of a tool.
type Arguments = &'static [(&'static str, Kind)];

/// The tools that hosts bring along, with the arguments that rules can read.
const BUILTIN: &[(&str, Arguments)] = &[
    ("Agent", &[("description", Kind::Text), ("prompt", Kind::Text), ("subagent_type", Kind::Text)]),
    ("AskUserQuestion", &[]),
    ("Bash", &[("command", Kind::Text), ("description", Kind::Text), ("timeout", Kind::Number)]),
    (
        "Edit",
        &[
            ("file_path", Kind::Text),
            ("new_string", Kind::Text),
            ("old_string", Kind::Text),
            ("replace_all", Kind::Flag),
        ],
    ),
    ("EnterPlanMode", &[]),
    ("ExitPlanMode", &[("plan", Kind::Text)]),
    ("Glob", &[("path", Kind::Text), ("pattern", Kind::Text)]),
    ("Grep", &[("glob", Kind::Text), ("path", Kind::Text), ("pattern", Kind::Text)]),
    ("LS", &[("path", Kind::Text)]),
    ("MultiEdit", &[("file_path", Kind::Text)]),
    ("NotebookEdit", &[("new_source", Kind::Text), ("notebook_path", Kind::Text)]),
    ("NotebookRead", &[("notebook_path", Kind::Text)]),
    ("Read", &[("file_path", Kind::Text), ("limit", Kind::Number), ("offset", Kind::Number)]),
    ("SendMessage", &[]),
    ("Skill", &[("args", Kind::Text), ("skill", Kind::Text)]),
    ("TodoWrite", &[]),
    ("WebFetch", &[("prompt", Kind::Text), ("url", Kind::Text)]),
    ("WebSearch", &[("query", Kind::Text)]),
    ("Write", &[("content", Kind::Text), ("file_path", Kind::Text)]),
];

/// What the argument of a tool is that hosts bring along. `None`: rules do not read it.
#[must_use]
pub fn builtin_argument(action: &str, name: &str) -> Option<Kind> {
    let (_, arguments) = BUILTIN.iter().find(|(known, _)| *known == action)?;
    arguments.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The action that stands for each tool in patterns of events.
pub const ANY_TOOL: &str = "any-tool";
/// The action that stands for each tool that no host brings along.
pub const OTHER_TOOL: &str = "any-other-tool";

/// Whether hosts bring a tool along.
#[must_use]
pub fn is_builtin(action: &str) -> bool {
    BUILTIN.iter().any(|(known, _)| *known == action)
}

/// The tools that hosts bring along. `labels` says what each can do.
#[must_use]
pub fn builtin(labels: impl Fn(&str) -> Vec<String>) -> Vec<ToolShape> {
    let shape = |(action, arguments): &(&str, Arguments)| ToolShape {
        action: (*action).to_string(),
        labels: labels(action),
        arguments: arguments.iter().map(|(name, kind)| ((*name).to_string(), *kind)).collect(),
    };
    BUILTIN.iter().map(shape).collect()
}
