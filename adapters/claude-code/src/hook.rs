//! The client's hook events by name.

/// A hook event that stands for something, or `Other` for one the client knows and we have no use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PostToolBatch,
    UserPromptSubmit,
    UserPromptExpansion,
    SessionStart,
    SessionEnd,
    SubagentStart,
    SubagentStop,
    Stop,
    PreCompact,
    PermissionRequest,
    PermissionDenied,
    ConfigChange,
    MessageDisplay,
    Other,
}

/// The events that the client knows and that stand for nothing here.
const OTHER: [&str; 17] = [
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Notification",
    "PostCompact",
    "PostModelSwitch",
    "PreModelSwitch",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "WorktreeCreate",
    "WorktreeRemove",
];

impl Hook {
    /// The event of this name; `None` if no recorded version of the client has it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "PreToolUse" => Self::PreToolUse,
            "PostToolUse" => Self::PostToolUse,
            "PostToolUseFailure" => Self::PostToolUseFailure,
            "PostToolBatch" => Self::PostToolBatch,
            "UserPromptSubmit" => Self::UserPromptSubmit,
            "UserPromptExpansion" => Self::UserPromptExpansion,
            "SessionStart" => Self::SessionStart,
            "SessionEnd" => Self::SessionEnd,
            "SubagentStart" => Self::SubagentStart,
            "SubagentStop" => Self::SubagentStop,
            "Stop" => Self::Stop,
            "PreCompact" => Self::PreCompact,
            "PermissionRequest" => Self::PermissionRequest,
            "PermissionDenied" => Self::PermissionDenied,
            "ConfigChange" => Self::ConfigChange,
            "MessageDisplay" => Self::MessageDisplay,
            name if OTHER.contains(&name) => Self::Other,
            _ => return None,
        })
    }

    /// The name under which a reply of this event may carry context for the agent; `None` where the client takes none.
    ///
    /// `Stop` and `SubagentStop` take it too, but it makes the agent go on, so they are left out.
    pub(crate) fn context_name(self) -> Option<&'static str> {
        match self {
            Self::PreToolUse => Some("PreToolUse"),
            Self::PostToolUse => Some("PostToolUse"),
            Self::PostToolUseFailure => Some("PostToolUseFailure"),
            Self::PostToolBatch => Some("PostToolBatch"),
            Self::UserPromptSubmit => Some("UserPromptSubmit"),
            Self::UserPromptExpansion => Some("UserPromptExpansion"),
            Self::SessionStart => Some("SessionStart"),
            Self::SubagentStart => Some("SubagentStart"),
            Self::SessionEnd
            | Self::SubagentStop
            | Self::Stop
            | Self::PreCompact
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::ConfigChange
            | Self::MessageDisplay
            | Self::Other => None,
        }
    }
}
