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
    /// The platform's own name if it differs, for example `mcp__lsp__apply_edit`.
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
    /// The arguments, as the platform sent them.
    #[serde(default)]
    pub input: Value,
    /// What the arguments would do, read before the decision.
    #[serde(default, skip_serializing_if = "Reading::is_empty")]
    pub reading: Reading,
    /// Whether the platform starts the call in the background.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub background: bool,
}

/// The call analysis: the simple commands of a shell command, the paths of a file tool.
///
/// It is made before `step`. An empty analysis means that nothing is known, not that the call is harmless.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The simple commands, in the order of the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SimpleCommand>,
    /// The known paths that the call would access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathUse>,
    /// The protected paths that the call would change or could change.
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

/// A protected path that a call would change or could change.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// The kind of protected path.
    pub part: Part,
    /// The path as the call gives it, or the words that name it.
    pub path: String,
}

/// The kinds of protected paths (rules 4.1).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A config, or a place where phasegate looks for one.
    Policy,
    /// The `SKILL.md` of a skill, or a place where discovery looks for one.
    Skill,
    /// The state folder: journals and other state of projects.
    State,
    /// The platform's settings, which start the guard, and other files that the platform obeys without asking the
    /// guard.
    Settings,
    /// The program `phasegate`.
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
    /// The first byte in the line, and the byte after the last.
    pub span: (u32, u32),
    /// The most harmful effect that the command can have.
    pub verdict: Verdict,
}

/// A word of a command: known, or computed at run time (a variable, a substitution).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The word after quote removal.
    Known(String),
    /// A word that is unknown before the line runs.
    Unknown,
}

/// The most harmful effect of a command, from harmless to unknown.
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

/// One path that a call would access.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathUse {
    /// The path as the call gives it.
    pub written: String,
    /// The path with links, `.` and `..` resolved; absent if that failed.
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
    /// Removes or renames it, with everything below it.
    Remove,
    /// Runs it.
    Execute,
}
