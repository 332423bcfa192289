//! The messages of the extension: the client's own event objects, with the session they belong to. Fields that nothing here
//! needs are passed over, whatever they hold.

use phasegate_adapter::{Frame, Message, Problem, strict};
use phasegate_core::Code;
use serde::Deserialize;
use serde_json::Value;

/// What every message has.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow)]
    event: Type<'a>,
    session: &'a str,
    cwd: Option<&'a str>,
    /// How the client runs: `tui`, `rpc`, `json` or `print`; only newer ones say so.
    pub(crate) mode: Option<&'a str>,
    /// Whether a person can be asked.
    #[serde(default, rename = "hasUI")]
    pub(crate) has_ui: bool,
}

/// The kind of event.
#[derive(Deserialize)]
struct Type<'a> {
    #[serde(rename = "type")]
    name: &'a str,
}

impl<'a> Head<'a> {
    /// Reads the head of a message's body.
    pub(crate) fn of(body: &'a Value) -> Result<Self, Problem> {
        // Serde would read a list as a structure, field by field.
        if !body.is_object() {
            return Err(bad("the message is not a JSON object"));
        }
        let head = Self::deserialize(body).map_err(|e| bad(format!("the message: {e}")))?;
        if head.session.is_empty() {
            return Err(bad("the message: `session` is empty"));
        }
        Ok(head)
    }

    /// Whether a person sits before the client. Older clients do not say how they run, but they have a surface to ask on
    /// only in a terminal and for other programs, and input says which of the two it came from.
    pub(crate) fn in_terminal(&self) -> bool {
        match self.mode {
            Some(mode) => mode == "tui",
            None => self.has_ui,
        }
    }

    /// Whether a person sits at the session; `None` where that is not known.
    pub(crate) fn sits(&self) -> Option<bool> {
        match self.mode {
            Some("tui") => Some(true),
            Some("print" | "json") => Some(false),
            Some(_) | None => None,
        }
    }
}

/// Parses a frame: one JSON object with at least an event's type and a session.
pub(crate) fn open(frame: &Frame) -> Result<Message, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the message is not UTF-8: {e}")))?;
    if text.trim().is_empty() {
        return Err(bad("the message is empty"));
    }
    let body = strict::read(text).map_err(|e| bad(format!("the message: {e}")))?;
    let head = Head::of(&body)?;
    Ok(Message {
        session: head.session.to_owned(),
        cwd: head.cwd.map(Into::into),
        event: head.event.name.to_owned(),
        body,
        ..Message::default()
    })
}

/// A message with its head.
pub(crate) struct Told<'a> {
    pub(crate) message: &'a Message,
    pub(crate) head: Head<'a>,
}

impl<'a> Told<'a> {
    /// Reads a message's head.
    pub(crate) fn of(message: &'a Message) -> Result<Self, Problem> {
        Ok(Self { message, head: Head::of(&message.body)? })
    }

    /// The event's own fields.
    pub(crate) fn fields<T: Deserialize<'a>>(&self) -> Result<T, Problem> {
        let event = self.message.body.get("event").unwrap_or(&Value::Null);
        T::deserialize(event).map_err(|e| bad(format!("the event `{}`: {e}", self.message.event)))
    }

    /// A field that stands beside the event.
    pub(crate) fn beside(&self, name: &str) -> Option<&'a str> {
        self.message.body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
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

/// `agent_end`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentEnd {
    /// Why the agent's last message ended: `stop`, `length`, `toolUse`, `error` or `aborted`.
    pub(crate) stop_reason: Option<String>,
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

/// `command`: one of the extension's own commands, typed with a slash; or a call of the tool that the extension offers,
/// which has an `input`.
#[derive(Deserialize)]
pub(crate) struct Command {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) args: String,
    pub(crate) input: Option<Value>,
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
