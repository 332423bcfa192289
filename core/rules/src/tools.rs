//! The tools that rules know, with their arguments.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Argument"))]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A list of texts.
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

/// What an agent does with the guard itself, as tools of a server: it begins and leaves skills, enters phases by its calls,
/// registers what commands do, and ends its turn. They are no calls: the group `call` leaves them out.
const OWN: &[(&str, Arguments)] = &[
    ("phasegate/activate_skill", &[("mode", Kind::Text), ("skill_name", Kind::Text)]),
    ("phasegate/deactivate_skill", &[("skill_name", Kind::Text)]),
    ("phasegate/enter_phase", &[("from", Kind::Text), ("phase", Kind::Text), ("skill_name", Kind::Text)]),
    ("phasegate/plan_skill_safety", &[("default", Kind::Text), ("tool", Kind::Text)]),
    ("phasegate/stop", &[]),
];
/// The label of these actions.
pub const GUARD: &str = "guard";

/// Whether an action is one with the guard itself.
pub fn is_own_action(id: &str) -> bool {
    OWN.iter().any(|(known, _)| *known == id)
}

/// What the argument of a tool is that hosts bring along. `None`: rules do not read it.
pub fn builtin_argument(action: &str, name: &str) -> Option<Kind> {
    let (_, arguments) = BUILTIN.iter().chain(OWN).find(|(known, _)| *known == action)?;
    arguments.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The action that stands for each tool that no host brings along, in the schema alone.
#[cfg(feature = "compile")]
pub(crate) const OTHER_TOOL: &str = "any-other-tool";

/// The tools that hosts bring along, and the actions with the guard itself. `labels` says what each tool can do.
pub fn builtin(labels: impl Fn(&str) -> Vec<String>) -> Vec<ToolShape> {
    let shape = |(action, arguments): &(&str, Arguments)| ToolShape {
        action: (*action).to_string(),
        labels: if is_own_action(action) { [GUARD.to_string()].into() } else { labels(action) },
        arguments: arguments.iter().map(|(name, kind)| ((*name).to_string(), *kind)).collect(),
    };
    BUILTIN.iter().chain(OWN).map(shape).collect()
}
