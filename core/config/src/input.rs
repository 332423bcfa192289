//! What the caller hands in: config texts with their names and levels.

use std::collections::{BTreeMap, BTreeSet};

/// Whose config a text is. A higher level hides a lower one's skill of the same name; strictness combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The project's.
    Project,
    /// The user's.
    User,
    /// The machine's.
    Machine,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `config.yaml`: mode, `use`, what holds for every skill.
    Settings,
    /// A skill config of its own, YAML or JSON.
    Skill,
    /// A `SKILL.md`, whose front matter may hold `tool_permissions`.
    SkillMd,
}

/// A config text with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as shown in diagnostics.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whose it is.
    pub level: Level,
    /// What it is.
    pub kind: Kind,
}

/// The tools of servers, by the server's name.
pub type ServerTools = BTreeMap<String, BTreeSet<String>>;
