//! The registry of command safety: what registered patterns say of the words of one simple command (rules 4.6).

mod lists;
mod pattern;
mod verb;

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::cause::By;
use crate::prelude::*;

pub use lists::{is_never_read, is_runner, runners};
pub use pattern::{CommandWords, PatternFault, SafetyPattern};
pub(crate) use pattern::{arguments, program, runs_another, start};
pub use verb::changes;
pub(crate) use verb::changing;

/// The name of the tool by which an agent registers what the commands of a program do.
pub const REGISTER: &str = "plan_skill_safety";
/// The id of the obligation to tell the agent how to register what commands do.
pub const SAFETY_OBLIGATION: &str = "safety";
/// The most entries of a session or of a project.
pub const MAX_ENTRIES: usize = 64;
/// The most patterns of one entry.
pub const MAX_PATTERNS: usize = 256;

/// How a skill classifies a command. All but `READ` count as `WRITE`; the word is kept for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// It only reads.
    Read,
    /// It changes something.
    Write,
    /// It removes something.
    Destructive,
    /// It costs money.
    Expensive,
    /// It opens something to others.
    Security,
    /// It is never to run.
    Forbidden,
}

impl Level {
    /// All levels, with their words.
    pub const ALL: [(&'static str, Self); 6] = [
        ("READ", Self::Read),
        ("WRITE", Self::Write),
        ("DESTRUCTIVE", Self::Destructive),
        ("EXPENSIVE", Self::Expensive),
        ("SECURITY", Self::Security),
        ("FORBIDDEN", Self::Forbidden),
    ];

    /// The level of this word, in capital letters.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, level)| *level)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, level)| *level == self).map_or("WRITE", |(name, _)| name)
    }

    /// Whether it only reads.
    pub fn reads(self) -> bool {
        self == Self::Read
    }
}

/// A pattern and its level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classified {
    /// The pattern, as it was registered.
    pub pattern: String,
    /// What the commands do that it selects.
    pub level: Level,
}

/// What was registered of one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of the program.
    pub tool: String,
    /// The patterns, in the order in which they were registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Classified>,
    /// The level of the program's commands that no pattern selects, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Level>,
    /// Who registered it.
    pub by: By,
    /// When, in milliseconds since 1970-01-01 UTC, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
}

/// What was registered in one place, in the order in which programs were registered first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Registry {
    /// The entries, one a program.
    pub entries: Vec<Entry>,
    /// Programs that a person let agents classify, besides those that the settings name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<String>,
    /// The programs whose commands the agent of the session was told to register, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub told: String,
}

impl Registry {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.approved.is_empty() && self.told.is_empty()
    }

    /// The entry of a program.
    pub fn entry(&self, tool: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tool == tool)
    }

    /// Puts an entry in the place of the program's earlier one; an entry that says nothing removes it.
    pub(crate) fn register(&mut self, entry: &Entry) {
        let says = !entry.commands.is_empty() || entry.default.is_some();
        match self.entries.iter_mut().find(|known| known.tool == entry.tool) {
            Some(known) if says => known.clone_from(entry),
            Some(_) => self.entries.retain(|known| known.tool != entry.tool),
            None if says => {
                self.entries.push(entry.clone());
                let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
                self.entries.drain(..surplus);
            }
            None => {}
        }
    }

    pub(crate) fn approve(&mut self, program: &str, approved: bool) {
        self.approved.retain(|known| known != program);
        if approved {
            self.approved.push(program.to_string());
        }
    }
}

/// Whether nothing is in a registry.
pub(crate) fn is_nothing(registry: &Arc<Registry>) -> bool {
    registry.is_empty()
}

/// What is registered, as the command `safety` answers it, in lines of text.
pub fn shown(result: &Value) -> String {
    let list = |value: &Value, key: &str| {
        let items = value.get(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(ToString::to_string).collect::<Vec<_>>()
    };
    let mut named = list(result, "programs");
    named.extend(list(result, "override"));
    named.extend(list(result, "approved"));
    let any = result.get("any") == Some(&Value::Bool(true));
    let named = if any {
        "any program".to_string()
    } else if named.is_empty() {
        "none".to_string()
    } else {
        named.join(", ")
    };
    let mut text = alloc::format!("phasegate: agents may classify: {named}");
    for entry in result.get("registered").and_then(Value::as_array).into_iter().flatten() {
        let of = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let who = if of("by") == "human" { "a person" } else { "the agent" };
        text.push_str(&alloc::format!("\n{}, registered by {who} for the {}", of("tool"), of("scope")));
        for one in entry.get("commands").and_then(Value::as_array).into_iter().flatten() {
            let of = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
            text.push_str(&alloc::format!("\n  {:<11} {}", of("level"), of("pattern")));
        }
        if !of("default").is_empty() {
            text.push_str(&alloc::format!("\n  {:<11} everything else", of("default")));
        }
    }
    text
}
