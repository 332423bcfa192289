//! Frames as the plugin forwards them: one hook's name with the client's own input and output objects, and what the
//! plugin knows besides: which session that is, in which folder. Fields that nothing here needs are passed over.

use phasegate_adapter::{Frame, Message, Problem, strict};
use phasegate_core::Code;
use serde::Deserialize;
use serde_json::Value;

/// What a message's body says, beside the arguments of its hook.
#[derive(Deserialize)]
pub(crate) struct Head {
    /// The client's name of the hook; `event` for what its bus reports; `session.opened` and `session.closed` for what
    /// the plugin itself reports.
    pub(crate) hook: String,
    pub(crate) session: Session,
    /// The folder that the client works in.
    pub(crate) directory: Option<String>,
    /// Whether the client reads from a terminal; absent where the plugin cannot tell.
    pub(crate) terminal: Option<bool>,
    /// The names of the MCP servers that the client knows.
    #[serde(default)]
    pub(crate) servers: Vec<String>,
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

/// Where the bus's own word for an event stands in a message's body.
const BUS_EVENT: &str = "/input/event/type";

/// Parses a frame.
pub(crate) fn open(frame: &Frame) -> Result<Message, Problem> {
    let text = str::from_utf8(&frame.bytes).map_err(|e| bad(format!("the plugin's message is not UTF-8: {e}")))?;
    if text.trim().is_empty() {
        return Err(bad("the plugin's message is empty"));
    }
    let body = strict::read(text).map_err(|e| bad(format!("the plugin's message: {e}")))?;
    let head = Head::of(&body)?;
    let event = match body.pointer(BUS_EVENT) {
        Some(kind) => kind.as_str().ok_or_else(|| bad("the plugin's message: the type of an event is not a text"))?,
        None => &head.hook,
    };
    Ok(Message {
        session: head.session.root().to_owned(),
        cwd: head.directory.as_ref().map(Into::into),
        event: event.to_owned(),
        body,
        ..Message::default()
    })
}

impl Head {
    /// Reads the head of a message's body.
    pub(crate) fn of(body: &Value) -> Result<Self, Problem> {
        // Serde would read a list as a structure, field by field.
        if !body.is_object() {
            return Err(bad("the plugin's message is not a JSON object"));
        }
        let head = Self::deserialize(body).map_err(|e| bad(format!("the plugin's message: {e}")))?;
        check(&head.session)?;
        Ok(head)
    }
}

/// A message with its head.
pub(crate) struct Told<'a> {
    pub(crate) head: Head,
    body: &'a Value,
}

impl<'a> Told<'a> {
    /// Reads a message's head.
    pub(crate) fn of(message: &'a Message) -> Result<Self, Problem> {
        Ok(Self { head: Head::of(&message.body)?, body: &message.body })
    }

    /// What the hook was given.
    pub(crate) fn input<T: Deserialize<'a>>(&self) -> Result<T, Problem> {
        self.part("input")
    }

    /// What the hook may change.
    pub(crate) fn output<T: Deserialize<'a>>(&self) -> Result<T, Problem> {
        self.part("output")
    }

    fn part<T: Deserialize<'a>>(&self, name: &str) -> Result<T, Problem> {
        let part = self.body.get(name).unwrap_or(&Value::Null);
        T::deserialize(part).map_err(|e| bad(format!("the {name} of the hook `{}`: {e}", self.head.hook)))
    }
}

fn check(session: &Session) -> Result<(), Problem> {
    let named = |id: Option<&str>| id.is_none_or(|id| !id.is_empty());
    if session.id.is_empty() || !named(session.parent.as_deref()) || !named(session.root.as_deref()) {
        return Err(bad("the plugin's message: the id of a session is empty"));
    }
    Ok(())
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
    /// The end of its text, where that is longer.
    pub(crate) end: Option<String>,
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

/// `chat.message`: who is to answer.
#[derive(Deserialize)]
pub(crate) struct Chosen {
    /// The agent that the user has chosen.
    pub(crate) agent: Option<String>,
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

/// A call of the plugin's own tool.
#[derive(Deserialize)]
pub(crate) struct Registered {
    #[serde(default)]
    pub(crate) args: Value,
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
    pub(crate) fn fields<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Problem> {
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

/// `session.idle`: a turn ended.
#[derive(Deserialize)]
pub(crate) struct Idle {
    /// How the agent's last message ended, where the session can go on by itself.
    pub(crate) finish: Option<String>,
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
    /// The client's own name of the call's tool.
    pub(crate) tool: Option<String>,
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
