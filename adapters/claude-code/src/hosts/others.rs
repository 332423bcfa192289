//! Hosts that read the settings of Claude Code, or copy its hooks, and start them with messages of their own.

use crate::hosts::other::Other;
use crate::hosts::{copilot_cli, vs_code};

/// Each with what tells its messages apart. VS Code's are made from its documentation and its source; those of Copilot CLI
/// and Codex CLI were recorded, those of Cursor and Goose are known from their documentation.
pub(crate) const OTHERS: [Other; 9] = [
    // These two it sends in its own form also to a hook in Claude Code's: what they are about was asked before each call.
    Other { silent: true, ..copilot(&["sessionId", "hookName", "toolInput"], &["hook_event_name"]) },
    Other { silent: true, ..copilot(&["sessionId", "agentName", "agent_id"], &["hook_event_name", "toolName"]) },
    copilot(&["timestamp", "hook_event_name"], &[]),
    Other { lacks: &["hookEventName", "hook_event_name"], ..unread("Copilot CLI", &["sessionId", "timestamp"]) },
    unread("Cursor", &["conversation_id"]),
    Other { lacks: &["hook_event_name"], ..unread("Goose", &["event"]) },
    unread("Codex CLI", &["turn_id", "model", "hook_event_name"]),
    // The spelling in the documentation, and that of the source.
    Other { dialect: Some(&vs_code::DIALECT), ..unread("VS Code", &["hookEventName"]) },
    Other { dialect: Some(&vs_code::DIALECT), ..unread("VS Code", &["timestamp", "hook_event_name"]) },
];

/// A message of Copilot CLI, which sets a variable for its hooks.
const fn copilot(keys: &'static [&'static str], lacks: &'static [&'static str]) -> Other {
    Other {
        name: "Copilot CLI",
        keys,
        lacks,
        variable: Some(copilot_cli::VARIABLE),
        dialect: Some(&copilot_cli::DIALECT),
        recorded: true,
        silent: false,
    }
}

const fn unread(name: &'static str, keys: &'static [&'static str]) -> Other {
    Other { name, keys, lacks: &[], variable: None, dialect: None, recorded: false, silent: false }
}
