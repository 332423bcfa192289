//! The tools that agent hosts bring along: their labels, and the names of the tools of MCP servers.

use alloc::collections::BTreeSet;

use serde_json::Value;

use crate::calls::tool::{AGENT, BASH, EXECUTE, Labels, NETWORK, READ, SHELL, WRITE};
use crate::prelude::*;

/// The server and the tool in a name that hosts give to the tools of MCP servers: `mcp__SERVER__TOOL`.
pub(crate) fn split_native(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__").filter(|(server, name)| !server.is_empty() && !name.is_empty())
}

/// What is known of the labels of a call: those of the built-in tools; none of a server's.
pub(crate) fn known_labels(server: Option<&str>, tool: &str, input: &Value) -> Labels {
    match server {
        Some(_) => Labels::new(),
        // A subagent with a copy of the repository for itself: the start makes a worktree.
        None if tool == AGENT && input.get("isolation").is_some_and(|isolation| !isolation.is_null()) => {
            ["delegate", WRITE].iter().map(|word| (*word).to_string()).collect()
        }
        None => builtin_labels(tool),
    }
}

/// Whether agent hosts bring a tool of this canonical name along.
pub fn is_builtin(tool: &str) -> bool {
    !builtin_labels(tool).is_empty()
}

/// What the built-in tools of agent hosts can do, under their canonical names.
///
/// A shell counts as writing and executing until its command line is read.
pub fn builtin_labels(tool: &str) -> Labels {
    let words: &[&str] = match tool {
        "Read"
        | "Grep"
        | "Glob"
        | "LS"
        | "NotebookRead"
        | "Skill"
        | "TodoWrite"
        | "ToolSearch"
        | "AskUserQuestion"
        | "EnterPlanMode"
        | "ExitPlanMode"
        | "TaskGet"
        | "TaskList"
        | "TaskOutput"
        | "TaskCreate"
        | "TaskUpdate"
        | "BashOutput"
        | "LSP"
        | "ListMcpResourcesTool"
        | "ReadMcpResourceTool"
        | "ReadMcpResourceDirTool"
        // Lists, waiting, and what is told to the person.
        | "ListAgents"
        | "CronList"
        | "TodoRead"
        | "WaitForMcpServers"
        | "Sleep"
        | "ReportFindings"
        // What ends the agent's own work in the background, and the answer itself.
        | "TaskStop"
        | "KillShell"
        | "KillBash"
        | "StructuredOutput"
        | "SendUserMessage"
        | "PushNotification" => &[READ],
        "WebFetch" | "WebSearch" => &[READ, NETWORK],
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => &[WRITE],
        BASH => &[WRITE, EXECUTE, SHELL],
        // Starting a subagent, or a message to one, changes nothing by itself: its calls are events of their own.
        "Agent" | "SendMessage" => &["delegate", READ],
        _ => &[],
    };
    words.iter().map(|word| (*word).to_string()).collect::<BTreeSet<_>>()
}
