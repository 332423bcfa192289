//! The messages of the extension: the client's own event objects, with the session they belong to. Fields that nothing here
//! needs are passed over, whatever they hold.

use phasegate_adapter::{Frame, Problem};
use phasegate_core::Code;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What every message has.
#[derive(Deserialize)]
pub(crate) struct Head {
    pub(crate) event: Type,
    pub(crate) session: String,
    pub(crate) cwd: Option<String>,
    /// How the client runs: `tui`, `rpc`, `json` or `print`; only newer ones say so.
    pub(crate) mode: Option<String>,
    /// Whether somebody can be asked.
    #[serde(default, rename = "hasUI")]
    pub(crate) has_ui: bool,
}

/// The kind of event, for messages that are not read further.
#[derive(Deserialize)]
pub(crate) struct Type {
    #[serde(rename = "type")]
    pub(crate) name: String,
}

/// One message: its head, and the client's event with its own fields.
pub(crate) struct Message {
    pub(crate) head: Head,
    whole: Value,
}

impl Head {
    /// Reads the head of a frame: one JSON object with at least an event's type and a session.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let text = text(frame)?;
        // A list would do for a structure, field by field.
        if !text.trim_start().starts_with('{') {
            return Err(bad("the message is not a JSON object"));
        }
        let head: Self = parse(text)?;
        if head.session.is_empty() {
            return Err(bad("the message: `session` is empty"));
        }
        Ok(head)
    }

    /// Whether a person sits before the client. Older clients do not say how they run, but they have a surface to ask on
    /// only in a terminal and for other programs, and input says which of the two it came from.
    pub(crate) fn in_terminal(&self) -> bool {
        match &self.mode {
            Some(mode) => mode == "tui",
            None => self.has_ui,
        }
    }
}

impl Message {
    /// Reads a frame whole.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let head = Head::read(frame)?;
        let whole = parse(text(frame)?)?;
        Ok(Self { head, whole })
    }

    /// The event's own fields.
    pub(crate) fn fields<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let event = self.whole.get_mut("event").map(Value::take).unwrap_or_default();
        let name = &self.head.event.name;
        serde_json::from_value(event).map_err(|e| bad(format!("the event `{name}`: {e}")))
    }

    /// A field that stands beside the event.
    pub(crate) fn beside(&self, name: &str) -> Option<String> {
        self.whole.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

fn text(frame: &Frame) -> Result<&str, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the message is not UTF-8: {e}")))?;
    if text.trim().is_empty() { Err(bad("the message is empty")) } else { Ok(text) }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|e| bad(format!("the message: {e}")))
}

fn bad(message: impl Into<String>) -> Problem {
    Problem::new(Code::BadInput, message)
}

/// `tool_call`: a call that has not run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCall {
    pub(crate) tool_name: String,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) input: Value,
}

/// `tool_result`: a call that ran.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolRan {
    pub(crate) tool_name: String,
    pub(crate) tool_call_id: String,
    #[serde(default)]
    pub(crate) input: Value,
    #[serde(default)]
    pub(crate) content: Value,
    pub(crate) is_error: bool,
}

/// `tool_execution_end`: the end of every call, those too that never ran.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolOver {
    pub(crate) tool_name: String,
    pub(crate) tool_call_id: String,
    #[serde(default)]
    pub(crate) result: Value,
    pub(crate) is_error: bool,
}

/// `input`: what a person or a program gives the client.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) source: Option<String>,
    /// `steer` or `followUp` while the agent works; the text then waits.
    pub(crate) streaming_behavior: Option<String>,
}

/// `message_end`.
#[derive(Deserialize)]
pub(crate) struct MessageEnd {
    pub(crate) message: Said,
}

/// A whole message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Said {
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) content: Value,
    pub(crate) response_id: Option<String>,
    #[serde(default)]
    pub(crate) timestamp: Value,
}

/// `session_start`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionStart {
    pub(crate) reason: String,
    /// The file of the session that was served before, in this process.
    pub(crate) previous_session_file: Option<String>,
}

/// `session_shutdown`.
#[derive(Deserialize)]
pub(crate) struct SessionShutdown {
    pub(crate) reason: String,
}

/// `command`: one of the extension's own commands, typed with a slash.
#[derive(Deserialize)]
pub(crate) struct Command {
    pub(crate) args: String,
}

/// `permission`: the extension has asked its user about a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Permission {
    pub(crate) tool_call_id: Option<String>,
    pub(crate) outcome: String,
}

/// The text of a message's or a result's content: its text blocks, one after the other.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
            texts.filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
