//! Copilot CLI, as it starts the hooks of Claude Code's settings: recorded from 1.0.102. It writes Claude Code's names of
//! events and tools, and arguments of its own. Tool calls have no id.

use phasegate_adapter::ToolRow;
use phasegate_core::calls::analysis::Access;

use crate::hosts::dialect::{Dialect, Ends, Skills};

/// The variable that it sets for its hooks.
pub(crate) const VARIABLE: &str = "COPILOT_CLI";

/// How its messages are read.
pub(crate) static DIALECT: Dialect = Dialect {
    tools: &[
        file("Read", Access::Read),
        file("Grep", Access::Read),
        file("Glob", Access::Read),
        file("Write", Access::Write),
        file("Edit", Access::Write),
    ],
    path_arguments: &["path"],
    patch_tool: None,
    // A line in the background is `mode: async`, and its answer names no exit status.
    background: "",
    agent_kind: "subagent_type",
    any_agent: "general-purpose",
    skills: Skills::Tool,
    background_tool: None,
    ends: Ends::TextWithStatus,
    honours_ask: false,
    denies_in_words: false,
    denies_by: 0,
};

const fn file(name: &'static str, access: Access) -> ToolRow {
    ToolRow { native: name, canonical: name, access: Some(access), labels: &[] }
}
