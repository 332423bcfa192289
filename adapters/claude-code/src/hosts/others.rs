//! Hosts that read the settings of Claude Code, or copy its hooks, and start them with messages of their own.

use crate::hosts::vs_code;
use crate::other::Other;

/// Each with what tells its messages apart. VS Code's are made from its documentation and its source; those of Copilot CLI
/// and Codex CLI were recorded, those of Cursor and Goose are known from their documentation.
pub(crate) const OTHERS: [Other; 7] = [
    Other { lacks: &["hookEventName", "hook_event_name"], ..unread("Copilot CLI", &["sessionId", "timestamp"]) },
    // The same host, if the hook's event is written as Claude Code writes it.
    Other { variable: Some("COPILOT_CLI"), ..unread("Copilot CLI", &["timestamp", "hook_event_name"]) },
    unread("Cursor", &["conversation_id"]),
    Other { lacks: &["hook_event_name"], ..unread("Goose", &["event"]) },
    unread("Codex CLI", &["turn_id", "model", "hook_event_name"]),
    // The spelling in the documentation, and that of the source.
    Other { dialect: Some(&vs_code::DIALECT), ..unread("VS Code", &["hookEventName"]) },
    Other { dialect: Some(&vs_code::DIALECT), ..unread("VS Code", &["timestamp", "hook_event_name"]) },
];

const fn unread(name: &'static str, keys: &'static [&'static str]) -> Other {
    Other { name, keys, lacks: &[], variable: None, dialect: None }
}
