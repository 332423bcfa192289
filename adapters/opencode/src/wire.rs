//! Frames as the plugin forwards them: one hook's name with the client's own input and output objects, and what the
//! plugin knows besides: which session that is, in which folder. Fields that nothing here needs are passed over.

use phasegate_adapter::{Frame, Problem};
use phasegate_core::Code;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One frame.
#[derive(Deserialize)]
pub(crate) struct Message {
    /// The client's name of the hook; `event` for what its bus tells; `session.opened` and `session.closed` for what the
    /// plugin itself tells.
    pub(crate) hook: String,
    pub(crate) session: Session,
    /// The folder that the client works in.
    pub(crate) directory: Option<String>,
    /// Whether the client reads from a terminal; absent where the plugin cannot tell.
    pub(crate) terminal: Option<bool>,
    /// The names of the MCP servers that the client knows.
    #[serde(default)]
    pub(crate) servers: Vec<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    output: Value,
}

/// The session that a frame is about, and those above it.
#[derive(Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    /// The session whose call began this one; absent: none did.
    pub(crate) parent: Option<String>,
    /// The first session of all above this one; absent: it is the first itself.
    pub(crate) root: Option<String>,
    /// The kind of agent that works in the session, where it began as a subagent's.
    pub(crate) agent: Option<String>,
}

impl Session {
    /// The session that the guard keeps: a subagent's session is judged by the runs of the one above all.
    pub(crate) fn root(&self) -> &str {
        self.root.as_deref().unwrap_or(&self.id)
    }

    /// The id under which a subagent is known; `None` for the main agent.
    pub(crate) fn subagent(&self) -> Option<&str> {
        (self.root() != self.id).then_some(self.id.as_str())
    }
}

/// The head of a frame: all that is read to find its session.
#[derive(Deserialize)]
pub(crate) struct Head {
    hook: String,
    pub(crate) session: Session,
    pub(crate) directory: Option<String>,
    #[serde(default)]
    input: HeadInput,
}

#[derive(Default, Deserialize)]
struct HeadInput {
    event: Option<Told>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(rename = "type")]
    kind: String,
}

impl Head {
    /// Reads the head of a frame.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let head: Self = parse(frame)?;
        check(&head.session)?;
        Ok(head)
    }

    /// The client's own word for what happened: the hook's name, or the kind of what its bus tells.
    pub(crate) fn word(&self) -> &str {
        self.input.event.as_ref().map_or(&self.hook, |told| &told.kind)
    }
}

impl Message {
    /// Reads a frame whole.
    pub(crate) fn read(frame: &Frame) -> Result<Self, Problem> {
        let message: Self = parse(frame)?;
        check(&message.session)?;
        Ok(message)
    }

    /// What the hook was given.
    pub(crate) fn input<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        T::deserialize(&self.input).map_err(|e| bad(format!("the input of the hook `{}`: {e}", self.hook)))
    }

    /// What the hook may change.
    pub(crate) fn output<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        T::deserialize(&self.output).map_err(|e| bad(format!("the output of the hook `{}`: {e}", self.hook)))
    }
}

fn check(session: &Session) -> Result<(), Problem> {
    let named = |id: Option<&str>| id.is_none_or(|id| !id.is_empty());
    if session.id.is_empty() || !named(session.parent.as_deref()) || !named(session.root.as_deref()) {
        return Err(bad("the plugin's message: the id of a session is empty"));
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(frame: &Frame) -> Result<T, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the plugin's message is not UTF-8: {e}")))?;
    if text.trim().is_empty() {
        return Err(bad("the plugin's message is empty"));
    }
    if !text.trim_start().starts_with('{') {
        return Err(bad("the plugin's message is not a JSON object"));
    }
    serde_json::from_str(text).map_err(|e| bad(format!("the plugin's message: {e}")))
}

/// A message that is not in its form.
pub(crate) fn bad(message: impl Into<String>) -> Problem {
    Problem::new(Code::BadInput, message)
}

/// `tool.execute.before` and `tool.execute.after`: which call it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolInput {
    pub(crate) tool: String,
    #[serde(rename = "callID")]
    pub(crate) call_id: String,
    /// The arguments that the call ran with; only afterwards.
    pub(crate) args: Option<Value>,
}

/// `tool.execute.before`: the arguments.
#[derive(Deserialize)]
pub(crate) struct ToolArgs {
    #[serde(default)]
    pub(crate) args: Value,
}

/// `tool.execute.after` and the state of a call's part: what came of it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolAnswer {
    /// The beginning of its text.
    pub(crate) output: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) is_error: Option<bool>,
    /// Only in a part: how far the call has come.
    pub(crate) status: Option<String>,
    pub(crate) error: Option<String>,
    /// Only in a part: the arguments.
    pub(crate) input: Option<Value>,
}

/// `chat.message`: a prompt.
#[derive(Deserialize)]
pub(crate) struct Chat {
    #[serde(default)]
    pub(crate) message: ChatMessage,
    #[serde(default)]
    pub(crate) parts: Vec<ChatPart>,
}

/// Which message a prompt is.
#[derive(Default, Deserialize)]
pub(crate) struct ChatMessage {
    #[serde(default)]
    pub(crate) id: String,
}

/// A piece of a prompt.
#[derive(Deserialize)]
pub(crate) struct ChatPart {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) synthetic: bool,
}

/// `command.execute.before`: a `/name` that becomes a prompt.
#[derive(Deserialize)]
pub(crate) struct Command {
    pub(crate) command: String,
    pub(crate) arguments: Option<String>,
}

/// `event`: what the bus tells.
#[derive(Deserialize)]
pub(crate) struct Bus {
    pub(crate) event: BusEvent,
}

/// What the bus tells.
#[derive(Deserialize)]
pub(crate) struct BusEvent {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) properties: Value,
}

impl BusEvent {
    /// The fields of this kind.
    pub(crate) fn fields<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        T::deserialize(&self.properties).map_err(|e| bad(format!("the client's event `{}`: {e}", self.kind)))
    }
}

/// `session.created`: the new session.
#[derive(Deserialize)]
pub(crate) struct Created {
    pub(crate) info: CreatedInfo,
}

/// What is read of a session's own record.
#[derive(Deserialize)]
pub(crate) struct CreatedInfo {
    #[serde(default)]
    pub(crate) title: String,
}

/// `message.updated`: a message without its text.
#[derive(Deserialize)]
pub(crate) struct MessageUpdated {
    pub(crate) info: MessageInfo,
}

/// Which message it is.
#[derive(Deserialize)]
pub(crate) struct MessageInfo {
    pub(crate) id: String,
    pub(crate) role: String,
}

/// `message.part.updated`: a piece of a message.
#[derive(Deserialize)]
pub(crate) struct PartUpdated {
    pub(crate) part: Part,
}

/// A piece of a message: text, a call, the end of a step.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(rename = "messageID")]
    pub(crate) message_id: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) time: Option<PartTime>,
    #[serde(rename = "callID")]
    pub(crate) call_id: Option<String>,
    pub(crate) state: Option<ToolAnswer>,
}

/// When a piece began and ended.
#[derive(Deserialize)]
pub(crate) struct PartTime {
    pub(crate) end: Option<Value>,
}

/// `permission.asked`: the user is asked about a call.
#[derive(Deserialize)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) tool: Option<AskedTool>,
}

/// The call that the user is asked about.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskedTool {
    #[serde(rename = "callID")]
    pub(crate) call_id: String,
}

/// `permission.replied`: the user's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replied {
    #[serde(rename = "requestID")]
    pub(crate) request_id: String,
    pub(crate) reply: String,
}

/// `file.watcher.updated` and `file.edited`: a file changed.
#[derive(Deserialize)]
pub(crate) struct FileChanged {
    pub(crate) file: String,
}
