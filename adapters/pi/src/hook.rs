//! The client's events by name.

/// An event that stands for something, or `Other` for one that the extension passes on and that stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    SessionStart,
    SessionShutdown,
    SessionBeforeCompact,
    SessionCompact,
    SessionTree,
    Input,
    BeforeAgentStart,
    MessageEnd,
    ToolCall,
    ToolResult,
    ToolExecutionEnd,
    TurnEnd,
    AgentEnd,
    AgentSettled,
    Command,
    Permission,
    Other,
}

/// The client's events that stand for nothing here.
const OTHER: [&str; 18] = [
    "after_provider_response",
    "agent_before_settle",
    "agent_start",
    "before_provider_headers",
    "context",
    "message_start",
    "message_update",
    "model_select",
    "project_trust",
    "resources_discover",
    "session_before_fork",
    "session_before_switch",
    "session_before_tree",
    "session_compact_failed",
    "session_info_changed",
    "tool_execution_start",
    "turn_start",
    "user_bash",
];

impl Hook {
    /// The event of this name; `None` if no recorded version of the client has it, nor the extension itself.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "session_start" => Self::SessionStart,
            "session_shutdown" => Self::SessionShutdown,
            "session_before_compact" => Self::SessionBeforeCompact,
            "session_compact" => Self::SessionCompact,
            "session_tree" => Self::SessionTree,
            "input" => Self::Input,
            "before_agent_start" => Self::BeforeAgentStart,
            "message_end" => Self::MessageEnd,
            "tool_call" => Self::ToolCall,
            "tool_result" => Self::ToolResult,
            "tool_execution_end" => Self::ToolExecutionEnd,
            "turn_end" => Self::TurnEnd,
            "agent_end" => Self::AgentEnd,
            "agent_settled" => Self::AgentSettled,
            "command" => Self::Command,
            "permission" => Self::Permission,
            name if OTHER.contains(&name) => Self::Other,
            _ => return None,
        })
    }

    /// Whether a denial keeps from happening what the event is about. A prompt could be denied; but it does nothing by
    /// itself, and the agent is told more by the denials of its calls.
    pub(crate) fn can_be_denied(self) -> bool {
        match self {
            Self::ToolCall | Self::Command => true,
            Self::Input
            | Self::SessionStart
            | Self::SessionShutdown
            | Self::SessionBeforeCompact
            | Self::SessionCompact
            | Self::SessionTree
            | Self::BeforeAgentStart
            | Self::MessageEnd
            | Self::ToolResult
            | Self::ToolExecutionEnd
            | Self::TurnEnd
            | Self::AgentEnd
            | Self::AgentSettled
            | Self::Permission
            | Self::Other => false,
        }
    }
}
