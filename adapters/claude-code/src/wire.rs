//! The client's messages as it sends them. Fields that nothing here needs are passed over, whatever they hold.

use phasegate_adapter::{Frame, Problem};
use phasegate_core::Code;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::escapes;

/// What every message has.
#[derive(Deserialize)]
pub(crate) struct Head {
    pub(crate) session_id: String,
    pub(crate) hook_event_name: String,
    pub(crate) cwd: Option<String>,
    pub(crate) permission_mode: Option<String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) agent_type: Option<String>,
}

/// One message: its head, and the whole of it for the event's own fields.
pub(crate) struct Message {
    pub(crate) head: Head,
    body: Value,
}

impl Head {
    /// Reads the head of a frame: one JSON object with at least a session and an event name. The rest is only skimmed.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let text = text(frame)?;
        // Told here, in words a reader knows; and a list would do for a structure, field by field.
        if !text.trim_start().starts_with('{') {
            return Err(bad("the hook's input is not a JSON object"));
        }
        let head: Self = parse(text)?;
        if head.session_id.is_empty() {
            return Err(bad("the hook's input: `session_id` is empty"));
        }
        Ok(head)
    }
}

impl Message {
    /// Reads a frame whole.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let head = Head::read(frame)?;
        let body = parse(text(frame)?)?;
        Ok(Self { head, body })
    }

    /// The event's own fields.
    pub(crate) fn fields<T: DeserializeOwned>(self) -> Result<T, Problem> {
        let event = self.head.hook_event_name;
        serde_json::from_value(self.body).map_err(|e| bad(format!("the input of the hook `{event}`: {e}")))
    }
}

fn text(frame: &Frame) -> Result<&str, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the hook's input is not UTF-8: {e}")))?;
    if text.trim().is_empty() { Err(bad("the hook's input is empty")) } else { Ok(text) }
}

/// Reads JSON; halves of characters are looked for only where it cannot be read as it is.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text)
        .or_else(|e| escapes::mended(text).map_or(Err(e), |text| serde_json::from_str(&text)))
        .map_err(|e| bad(format!("the hook's input: {e}")))
}

fn bad(message: impl Into<String>) -> Problem {
    Problem::new(Code::BadInput, message)
}

/// `PreToolUse`, `PermissionRequest` and `PermissionDenied`: a call that has not run.
#[derive(Deserialize)]
pub(crate) struct ToolUse {
    pub(crate) tool_name: String,
    pub(crate) tool_input: Value,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) mcp_server: Option<McpServer>,
}

/// The server of an MCP tool; only newer clients say it.
#[derive(Deserialize)]
pub(crate) struct McpServer {
    pub(crate) name: String,
}

/// `PostToolUse`: a call that ran.
#[derive(Deserialize)]
pub(crate) struct ToolRan {
    pub(crate) tool_name: String,
    pub(crate) tool_input: Value,
    pub(crate) tool_response: Value,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) mcp_server: Option<McpServer>,
}

/// `PostToolUseFailure`: a call that failed or was stopped.
#[derive(Deserialize)]
pub(crate) struct ToolFailed {
    pub(crate) tool_name: String,
    pub(crate) tool_input: Value,
    pub(crate) error: String,
    #[serde(default)]
    pub(crate) is_interrupt: bool,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) mcp_server: Option<McpServer>,
}

/// `UserPromptSubmit`.
#[derive(Deserialize)]
pub(crate) struct PromptSubmit {
    pub(crate) prompt: String,
    pub(crate) source: Option<String>,
}

/// `UserPromptExpansion`: a `/command` that becomes a prompt.
#[derive(Deserialize)]
pub(crate) struct PromptExpansion {
    pub(crate) expansion_type: String,
    pub(crate) command_name: String,
    pub(crate) command_args: Option<String>,
}

/// `SessionStart`.
#[derive(Deserialize)]
pub(crate) struct SessionStart {
    pub(crate) source: String,
}

/// `SubagentStart` and `SubagentStop`.
#[derive(Deserialize)]
pub(crate) struct Subagent {
    pub(crate) agent_id: String,
    #[serde(default)]
    pub(crate) agent_type: String,
    pub(crate) last_assistant_message: Option<String>,
}

/// `ConfigChange`.
#[derive(Deserialize)]
pub(crate) struct ConfigChange {
    pub(crate) source: String,
    pub(crate) file_path: Option<String>,
}

/// `MessageDisplay`: a piece of the agent's message.
#[derive(Deserialize)]
pub(crate) struct MessageDisplay {
    pub(crate) message_id: String,
    pub(crate) delta: String,
    #[serde(rename = "final")]
    pub(crate) last: bool,
}
