//! Tools and calls: what an agent asks for, under the names that policies use.

use alloc::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::analysis::{CallAnalysis, Verdict};
use crate::prelude::*;

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
/// The canonical name of the tool that writes a file.
pub const WRITE_FILE: &str = "Write";
/// The canonical name of the tool that starts a subagent.
pub const AGENT: &str = "Agent";
/// The canonical name of the tool that invokes a skill.
pub const SKILL: &str = "Skill";

/// What a tool can do, as a sorted set of words (`read`, `write`, `execute`, `network`, or a config's own).
///
/// An empty set means that no label is known; such a tool counts as writing (rules 3.2, line 6).
pub type Labels = BTreeSet<String>;

/// Whether the labels say that a tool reads, and none that it does more.
pub fn only_reads(labels: &Labels) -> bool {
    labels.contains(READ) && !labels.contains(WRITE) && !labels.contains(EXECUTE)
}

/// What a shell command with this verdict can do. One that only reads runs no program that could do more.
pub fn shell_labels(verdict: Verdict) -> Labels {
    let words: &[&str] = match verdict {
        Verdict::Read => &[READ, SHELL],
        Verdict::Write | Verdict::Execute | Verdict::Unknown => &[WRITE, EXECUTE, SHELL],
        Verdict::Send => &[WRITE, EXECUTE, NETWORK, SHELL],
    };
    words.iter().map(|word| (*word).into()).collect()
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
    /// What the arguments would do, found before the decision.
    #[serde(default, rename = "reading", skip_serializing_if = "CallAnalysis::is_empty")]
    pub analysis: CallAnalysis,
    /// Whether the platform starts the call in the background.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub background: bool,
}

impl Call {
    /// What its argument `command` is. Each pattern of a command asks for it: to look at a few arguments is quicker than to
    /// make a hash of the name.
    pub(crate) fn command(&self) -> Option<&Value> {
        match &self.input {
            Value::Object(all) if all.len() <= 8 => all.iter().find(|(name, _)| *name == "command").map(|(_, is)| is),
            input => input.get("command"),
        }
    }
}

/// The tool's own name in one that has its server's before it, as clients show it: `write_file` in `fs__write_file`.
/// `None` where it does not begin with this server's.
pub fn without_server<'n>(name: &'n str, server: &str) -> Option<&'n str> {
    let (end, _) = name.char_indices().nth(server.chars().count())?;
    let (before, after) = name.split_at_checked(end)?;
    after.strip_prefix("__").filter(|_| !server.is_empty() && same_server(before, server))
}

/// Whether two names mean one server. Clients write `my lsp` as `my_lsp` in a tool's name: what is no letter of ASCII,
/// digit, `-` or `_` counts as `_`.
pub fn same_server(one: &str, other: &str) -> bool {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    one.chars().map(letter).eq(other.chars().map(letter))
}
