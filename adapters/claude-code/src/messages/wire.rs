//! The client's messages as it sends them. Fields that the adapter does not need may hold anything.

use phasegate_adapter::{Frame, Message, Problem, strict};
use phasegate_core::Code;
use serde::Deserialize;
use serde_json::Value;

use crate::hosts::host::Host;
use crate::messages::escapes;

/// What every message has.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(alias = "sessionId")]
    pub(crate) session_id: &'a str,
    #[serde(alias = "hookEventName")]
    pub(crate) hook_event_name: &'a str,
    pub(crate) cwd: Option<&'a str>,
    pub(crate) permission_mode: Option<&'a str>,
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) agent_type: Option<&'a str>,
}

impl<'a> Head<'a> {
    /// Reads the head of a message's body.
    pub(crate) fn of(body: &'a Value) -> Result<Self, Problem> {
        // Serde would read a list as a structure, field by field.
        if !body.is_object() {
            return Err(bad("the hook's input is not a JSON object"));
        }
        let head = Self::deserialize(body).map_err(|e| bad(format!("the hook's input: {e}")))?;
        if head.session_id.is_empty() {
            return Err(bad("the hook's input: `session_id` is empty"));
        }
        Ok(head)
    }
}

/// Parses a frame: one JSON object with at least a session and an event name.
pub(crate) fn open(host: &Host, frame: &Frame) -> Result<Message, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the hook's input is not UTF-8: {e}")))?;
    if text.trim().is_empty() {
        return Err(bad("the hook's input is empty"));
    }
    let body = parse(text)?;
    if let Some(problem) = host.unread(&body, &frame.environment) {
        return Err(problem);
    }
    let variables: Vec<&str> =
        [host.entrypoint_variable, host.attended_variable].into_iter().chain(host.other_variables()).collect();
    let environment = frame.variables(&variables);
    if host.other(&body, &environment).is_some_and(|other| other.silent) {
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        let session = text("sessionId").filter(|session| !session.is_empty());
        let session = session.ok_or_else(|| bad("the hook's input: `sessionId` is no text"))?;
        let event = "Notification".to_owned();
        return Ok(Message { session, cwd: text("cwd").map(Into::into), event, environment, body });
    }
    let head = Head::of(&body)?;
    Ok(Message {
        session: head.session_id.to_owned(),
        cwd: head.cwd.map(Into::into),
        event: head.hook_event_name.to_owned(),
        environment,
        body,
    })
}

/// The body of a message of another host that is not read.
pub(crate) fn unread(host: &Host, frame: &Frame) -> Option<Value> {
    let body = parse(str::from_utf8(&frame.bytes).ok()?).ok()?;
    host.unread(&body, &frame.environment).map(|_| body)
}

/// The event's own fields.
pub(crate) fn fields<'a, T: Deserialize<'a>>(message: &'a Message) -> Result<T, Problem> {
    let event = &message.event;
    T::deserialize(&message.body).map_err(|e| bad(format!("the input of the hook `{event}`: {e}")))
}

/// Reads JSON. Only text that cannot be read as it is is searched for halves of characters.
fn parse(text: &str) -> Result<Value, Problem> {
    strict::read(text)
        .or_else(|e| escapes::mended(text).map_or(Err(e), |text| strict::read(&text)))
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
    #[serde(alias = "tool_result")]
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

/// `Stop`.
#[derive(Deserialize)]
pub(crate) struct Stop {
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
