//! A line of a neutral transcript. The engine's own types derive no schema, so they are mirrored here;
//! a test holds the two together.
#![expect(dead_code, reason = "the types are only described, never made")]

use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::reading::Reading;

/// A line of a neutral transcript: what happened, with who and when.
pub(super) struct EventLine;

impl JsonSchema for EventLine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventLine".into()
    }

    /// Every event with the fields that all events share.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shared = properties(&Envelope::json_schema(generator).to_value());
        let mut schema = EventKind::json_schema(generator).to_value();
        for event in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::Object(own)) = event.get_mut("properties") {
                own.extend(shared.clone());
            }
        }
        Schema::try_from(schema).unwrap_or_default()
    }
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// What every event may say.
#[derive(JsonSchema)]
#[serde(default)]
#[derive(Default)]
struct Envelope {
    /// The platform's session.
    session: String,
    /// When it happened; without it, as before.
    time: Option<Time>,
    /// The working directory of the session.
    cwd: Option<String>,
    /// Who is behind the session.
    principal: Option<String>,
    /// The platform's own permission mode.
    permission_mode: Option<String>,
    /// The agent that acts; without it, the main agent.
    agent: Option<Agent>,
}

/// A point in time.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Time {
    /// Milliseconds since 1970-01-01 UTC.
    Milliseconds(i64),
    /// A date and time as in RFC 3339.
    Text(String),
}

/// The closed list of events.
#[derive(JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum EventKind {
    /// A session begins or goes on.
    SessionStart {
        /// How it began.
        source: SessionSource,
        /// The session it came from, where the platform says.
        #[serde(default)]
        parent: Option<String>,
    },
    /// A session ends.
    SessionEnd {},
    /// A prompt reaches the agent.
    Prompt {
        /// Its text.
        text: String,
        /// Whether a person typed it into a terminal.
        #[serde(default)]
        interactive: Option<bool>,
    },
    /// A message, whole or in part.
    Message {
        /// The platform's id of the message.
        id: String,
        /// `assistant` or `user`.
        role: String,
        /// The text so far.
        text: String,
        /// Whether the text is whole.
        complete: bool,
    },
    /// The session waits.
    Idle {},
    /// The main agent ends its turn.
    Stop {},
    /// The conversation is about to be, or was, compacted.
    Compact {},
    /// A tool is about to be called.
    ToolCall {
        /// The platform's id of the call.
        #[serde(default)]
        id: Option<String>,
        /// The canonical name.
        tool: String,
        /// The platform's own name, where it differs.
        #[serde(default)]
        native: Option<String>,
        /// The MCP server, where known.
        #[serde(default)]
        server: Option<String>,
        /// The arguments.
        #[serde(default)]
        input: Value,
        /// What the tool can do; without it the table of built-in tools answers.
        #[serde(default)]
        labels: Option<BTreeSet<String>>,
        /// Whether it starts in the background.
        #[serde(default)]
        background: bool,
        /// What the arguments mean.
        #[serde(default)]
        reading: Reading,
    },
    /// A call ended, or was started in the background.
    ToolResult {
        /// The platform's id of the call.
        #[serde(default)]
        id: Option<String>,
        /// How it ended. Exactly one of `outcome` and `ok` is given.
        #[serde(default)]
        outcome: Option<Outcome>,
        /// Short for `outcome`: `true` is `ok`, `false` is `failed`.
        #[serde(default)]
        ok: Option<bool>,
        /// The exit status, for a call that ran a program.
        #[serde(default)]
        exit_code: Option<i64>,
        /// What the call answered.
        #[serde(default)]
        output: Option<Value>,
        /// The canonical name, to pair a result that has no id.
        #[serde(default)]
        tool: Option<String>,
        /// The arguments, to pair a result that has no id.
        #[serde(default)]
        input: Option<Value>,
    },
    /// The platform asked its user about a call, or the user answered.
    Permission {
        /// The platform's id of the call.
        #[serde(default)]
        id: Option<String>,
        /// What became of it.
        outcome: PermissionOutcome,
    },
    /// All calls of one message are over.
    BatchEnd {},
    /// A skill is invoked.
    Skill {
        /// Its name.
        name: String,
        /// Its arguments, as one text.
        #[serde(default)]
        args: Option<Value>,
        /// Who invoked it.
        by: By,
    },
    /// A subagent begins.
    SubagentStart {
        /// Its id.
        id: String,
        /// Its kind.
        #[serde(rename = "type")]
        kind: String,
        /// The call that started it, where the platform says.
        #[serde(default)]
        call: Option<String>,
        /// What it was asked.
        #[serde(default)]
        prompt: Option<String>,
    },
    /// A subagent ended.
    SubagentStop {
        /// Its id.
        id: String,
        /// Its kind.
        #[serde(rename = "type")]
        kind: String,
        /// Its last message.
        #[serde(default)]
        message: Option<String>,
    },
    /// A file is, from now on, as stated. Exactly one of `content`, `sha256` and `absent` is given.
    File {
        /// Its path, relative to the project or absolute.
        path: String,
        /// Its whole text.
        #[serde(default)]
        content: Option<String>,
        /// The digest of its bytes, as 64 lower-case hexadecimal digits.
        #[serde(default)]
        sha256: Option<String>,
        /// `true`: it does not exist.
        #[serde(default)]
        absent: Option<bool>,
        /// The agent that wrote it, where known.
        #[serde(default)]
        by: Option<String>,
    },
    /// A server says which tools it offers.
    Tools {
        /// The server.
        server: String,
        /// The tools, as the server describes them.
        tools: Vec<Value>,
    },
    /// A settings file of the platform changed.
    ConfigChanged {
        /// Its path.
        path: String,
    },
    /// State from another system is taken over; only before anything else.
    State {
        /// The name of the foreign format.
        format: String,
        /// The state in that format.
        value: Value,
    },
    /// A control command.
    Command {
        /// Who gave it.
        by: By,
        /// Its name, for example `activate_skill`.
        name: String,
        /// Its arguments.
        #[serde(default)]
        args: Value,
    },
}

/// An agent other than, or more closely named than, the session's main one.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Agent {
    /// The platform's id; empty for a main agent that only has a type.
    #[serde(default)]
    id: String,
    /// The kind of agent, for example `general-purpose`.
    #[serde(default, rename = "type")]
    kind: String,
    /// The id of the agent that started it; without it the main agent, or not known.
    #[serde(default)]
    parent: Option<String>,
}

/// How a session began.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SessionSource {
    /// A new session.
    Startup,
    /// An earlier session goes on.
    Resume,
    /// A copy of an earlier session goes its own way.
    Fork,
    /// The user cleared the conversation.
    Clear,
    /// The conversation was compacted; the session goes on.
    Compact,
    /// A process started by a guarded session.
    Child,
}

/// How a call ended.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It succeeded; for a call that runs a program, with a known exit status 0.
    Ok,
    /// It ran and failed.
    Failed,
    /// It never ran: the user or another guard said no.
    Refused,
    /// It was started in the background; its end is still to come.
    Launched,
    /// It was interrupted.
    Cancelled,
    /// Nobody knows.
    Unknown,
}

/// What became of a question to the user.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PermissionOutcome {
    /// The user was asked.
    Asked,
    /// The user said yes.
    Granted,
    /// The user said no.
    Refused,
}

/// Who caused something.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum By {
    /// The guarded agent.
    Agent,
    /// The platform by itself.
    Platform,
    /// A person.
    Human,
}
