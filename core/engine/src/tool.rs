//! Tools and calls: what an agent asks for, under the names that policies use.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shortened::Shortened;

/// The label of a tool that can look but not change anything.
pub const READ: &str = "read";
/// The label of a tool that changes files or other state.
pub const WRITE: &str = "write";
/// The label of a tool that runs programs.
pub const EXECUTE: &str = "execute";
/// The label of a tool that talks to other machines.
pub const NETWORK: &str = "network";
/// The label of a tool that takes a shell line; it succeeds with a known exit status 0 only, whatever the line does.
pub const SHELL: &str = "shell";
/// The canonical name of the tool that runs shell lines.
pub const BASH: &str = "Bash";
/// The canonical name of the tool that starts a subagent.
pub const AGENT: &str = "Agent";
/// The canonical name of the tool that invokes a skill.
pub const SKILL: &str = "Skill";

/// What a tool can do, as a sorted set of words (`read`, `write`, `execute`, `network`, or a config's own).
///
/// An empty set means that nobody said; such a tool counts as writing (rules 3.2, line 6).
pub type Labels = BTreeSet<String>;

/// Whether the labels say that a tool reads, and none that it does more.
#[must_use]
pub fn only_reads(labels: &Labels) -> bool {
    labels.contains(READ) && !labels.contains(WRITE) && !labels.contains(EXECUTE)
}

/// A tool as the policy sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The canonical name, for example `Edit` or `apply_edit`.
    pub name: String,
    /// The platform's own name where it differs, for example `mcp__lsp__apply_edit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// The MCP server that offers it; `None` for a host's own tool, or where the event does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What the adapter knows that the tool can do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: Labels,
}

/// One call of a tool, before it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The platform's id of the call, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool that is called.
    pub tool: Tool,
    /// The arguments, as the platform gave them.
    #[serde(default)]
    pub input: Value,
    /// What the arguments would do, read before the decision.
    #[serde(default, skip_serializing_if = "Reading::is_empty")]
    pub reading: Reading,
    /// Whether the platform starts the call in the background.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub background: bool,
}

/// What a call's arguments mean: the simple commands of a shell line, the paths of a file tool.
///
/// It is made before `step`; an empty reading says nothing, it does not say "harmless".
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The simple commands, in order of their place in the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SimpleCommand>,
    /// The paths the call would touch, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathUse>,
    /// What of the guard's own the call would change, or might.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<Guarded>,
    /// What was found out about arguments that a record does not repeat; never given by a platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub shortened: Option<Shortened>,
    /// Whether it is asked what becomes of the tool whatever its arguments are, so that it is denied only where every
    /// call of it is; only where nothing is decided.
    #[serde(skip)]
    pub open: bool,
}

impl Reading {
    /// Whether nothing was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.paths.is_empty() && self.guarded.is_empty() && self.shortened.is_none()
    }
}

/// A file or folder that the guard stands on, and that a call would change or might.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// What it is to the guard.
    pub part: Part,
    /// The path as the call gives it, or the words that speak of it.
    pub path: String,
}

/// What the guard stands on (rules 4.1).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A config, or a place where one would be found.
    Policy,
    /// A skill's own text, or a place where one would be found.
    Skill,
    /// The journals and all else that is kept about projects.
    State,
    /// The platform's settings, which start the guard, and what else the platform obeys without asking it.
    Settings,
    /// The program itself.
    Program,
}

impl Part {
    /// What follows "which" in a reason.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Policy => "is the guard's config",
            Self::Skill => "says what a skill may do",
            Self::State => "is the guard's state",
            Self::Settings => "the client obeys without asking the guard",
            Self::Program => "is the guard's own program",
        }
    }
}

/// One simple command of a shell line.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimpleCommand {
    /// The program and its arguments; the first word is the program.
    pub words: Vec<Word>,
    /// Assignments before the program, as name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<(String, Word)>,
    /// Redirections, as operator and target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<(String, Word)>,
    /// First and one-past-last byte in the line.
    pub span: (u32, u32),
    /// What the command can do at most.
    pub verdict: Verdict,
}

/// A word of a command: known, or made at run time (a variable, a substitution).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The word after quote removal.
    Known(String),
    /// A word that cannot be known before the line runs.
    Unknown,
}

/// What a command can do at most, from harmless to not known.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It only reads.
    Read,
    /// It writes files or other state.
    Write,
    /// It runs other programs.
    Execute,
    /// It sends data to other machines.
    Send,
    /// Nobody can say.
    Unknown,
}

/// One path that a call would touch.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathUse {
    /// The path as the call gives it.
    pub written: String,
    /// The path after links, `.` and `..` are resolved; absent if that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// What the call does to it.
    pub access: Access,
}

/// What a call does to a path.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads it.
    Read,
    /// Creates or changes it.
    Write,
    /// Takes it away or renames it, with everything below it.
    Remove,
    /// Runs it.
    Execute,
}
