//! Events: the closed list of things a platform can tell us, in the form that transcripts and journals use.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::calls::analysis::CallAnalysis;
use crate::calls::builtin_tools::{known_labels, split_native};
use crate::calls::tool::{Call, Labels, Tool};
use crate::policy::access::Stated;
use crate::prelude::*;
use crate::shell::test_report::TestReport;
use crate::state::Run;

pub use crate::calls::builtin_tools::builtin_labels;
pub use crate::calls::cause::{By, SessionSource};
pub use crate::calls::outcome::{CallOutcome, CallOutcome as Outcome, PermissionOutcome};

/// Something that happened or is about to happen, with who and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The platform's session; empty where a transcript names none.
    pub session: String,
    /// Milliseconds since 1970-01-01 UTC, where known.
    pub time: Option<i64>,
    /// The working directory of the session, where known.
    pub cwd: Option<String>,
    /// Who is behind the session, as established by the adapter, never by the caller.
    pub principal: Option<String>,
    /// The platform's own permission mode (`plan`, `default`, ...).
    pub permission_mode: Option<String>,
    /// The agent that acts; absent: the main agent.
    pub agent: Option<Agent>,
    /// What the server that holds the guard states of a call.
    pub stated: Option<Box<Stated>>,
    /// The files that programs of earlier calls changed, and before whose change a skill would have begun: it begins now.
    pub changed: Vec<String>,
    /// What happened, or is about to, with what belongs to it.
    pub kind: EventKind,
}

/// A subagent, or the main agent with its kind.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The platform's id; empty for the main agent.
    #[serde(default)]
    pub id: String,
    /// The kind of agent, for example `general-purpose`.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// The id of the agent that started it; absent for the main agent or if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// The closed list of events.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    /// A session begins or is resumed.
    SessionStart {
        /// How the session began.
        source: SessionSource,
        /// The id of the parent session, if the platform names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// A session inherits copies of another session's runs, each in its current phase. This precedes its first event,
    /// or the event with which the agent resumes it.
    Join {
        /// The id of the session that the runs are copied from.
        from: String,
        /// The runs, as in that session's state.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Map<String, Value>>"))]
        runs: Vec<Run>,
    },
    /// A session ends; its open calls become `unknown`.
    SessionEnd {},
    /// A prompt reaches the agent.
    Prompt {
        /// The whole prompt, as the agent gets it.
        text: String,
        /// Whether a person typed it into a terminal; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// The session waits for its user.
    Idle {},
    /// The main agent ends its turn.
    Stop {
        /// Whether the platform lets the guard keep the agent from it.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        can_hold: bool,
        /// Whether a person sits at the session; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interactive: Option<bool>,
    },
    /// The conversation is or was compacted.
    Compact {},
    /// A tool is about to be called.
    ToolCall {
        /// The platform's id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The canonical name, as policies use it, for example `Edit` or `apply_edit`.
        tool: String,
        /// The platform's own name if it differs, for example `mcp__lsp__apply_edit`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<String>,
        /// The name of the tool's MCP server; absent for the host's own tool or if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The arguments, as the platform sent them.
        #[serde(default)]
        input: Value,
        /// What the tool can do; if absent, the table of built-in tools decides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        labels: Option<Labels>,
        /// Whether it starts in the background.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        background: bool,
        /// The call analysis: simple commands, paths; absent if nothing is known.
        #[serde(default, rename = "reading", skip_serializing_if = "CallAnalysis::is_empty")]
        analysis: CallAnalysis,
    },
    /// A call ended, or was started in the background.
    ToolResult {
        /// The platform's id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// How it ended. Exactly one of `outcome` and `ok` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<CallOutcome>,
        /// Short for `outcome`: `true` is `ok`, `false` is `failed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ok: Option<bool>,
        /// The exit status, for a call that ran a program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// What the call answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// The reports of tests in what the call printed, at most one for each runner.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tests: Vec<TestReport>,
        /// The numbers in what the call answered, in millionths, by their JSON pointer.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        reported: BTreeMap<String, u64>,
        /// The canonical name, to pair a result that has no id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The arguments, to pair a result that has no id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
    /// The platform asked its user about a call, or the user answered.
    Permission {
        /// The platform's id of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The result of the question.
        outcome: PermissionOutcome,
    },
    /// All calls of one message have ended.
    BatchEnd {},
    /// A skill is invoked.
    Skill {
        /// The name in the invocation; a plugin's name and a colon may precede it.
        name: String,
        /// Its arguments, as one text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
        /// Who invoked it: a person by typing its name, or the agent by a call.
        by: By,
    },
    /// A subagent begins.
    SubagentStart {
        /// The id that the platform gave the subagent.
        id: String,
        /// The kind of agent as the platform names it, for example `general-purpose`.
        #[serde(rename = "type")]
        kind: String,
        /// The id of the call that started it, if the platform names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// Its prompt, if the platform sends it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// A subagent ended.
    SubagentStop {
        /// The id that its `subagent_start` had.
        id: String,
        /// The kind of agent, as in its `subagent_start`.
        #[serde(rename = "type")]
        kind: String,
        /// The text of its last message, if the platform sends it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether it can be kept from ending.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        can_hold: bool,
    },
    /// A file has this content from now on. Exactly one of `content`, `sha256` and `absent` is given.
    File {
        /// The file's path, relative to the project or absolute.
        path: String,
        /// The file's whole text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The digest of its bytes, as 64 lower-case hexadecimal digits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
        /// `true`: it does not exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        absent: Option<bool>,
        /// The agent that wrote it, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A server's list of tools.
    Tools {
        /// The name of the MCP server.
        server: String,
        /// The tools, as the server describes them: objects with at least a `name`.
        tools: Vec<Value>,
    },
    /// A settings file of the platform changed.
    ConfigChanged {
        /// The file's path, or the platform's name for the settings if it gives no path.
        path: String,
        /// Why the current settings would no longer start the guard; absent if they do, or if that is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unguarded: Option<String>,
        /// Whether the running client takes them up at once, unless that is refused.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        at_once: bool,
    },
    /// Imports state from another system; only before any other event.
    State {
        /// The name of the foreign format.
        format: String,
        /// The state in that format.
        value: Value,
    },
    /// A command to phasegate.
    Command {
        /// Who gave it; this decides what it may do (rules 4.2).
        by: By,
        /// Its name, for example `activate_skill`.
        name: String,
        /// Its arguments by name, for example `{"skill_name": "lsp-rename"}`.
        #[serde(default)]
        args: Value,
    },
}

const ENVELOPE: [&str; 8] = ["session", "time", "cwd", "principal", "permission_mode", "agent", "stated", "changed"];

impl Event {
    /// An event of `kind` by the main agent of `session`, with nothing else known.
    pub fn new(session: &str, kind: EventKind) -> Self {
        Self {
            session: session.to_string(),
            time: None,
            cwd: None,
            principal: None,
            permission_mode: None,
            agent: None,
            stated: None,
            changed: Vec::new(),
            kind,
        }
    }

    /// The event's name, for example `tool_call`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            EventKind::SessionStart { .. } => "session_start",
            EventKind::Join { .. } => "join",
            EventKind::SessionEnd {} => "session_end",
            EventKind::Prompt { .. } => "prompt",
            EventKind::Message { .. } => "message",
            EventKind::Idle {} => "idle",
            EventKind::Stop { .. } => "stop",
            EventKind::Compact {} => "compact",
            EventKind::ToolCall { .. } => "tool_call",
            EventKind::ToolResult { .. } => "tool_result",
            EventKind::Permission { .. } => "permission",
            EventKind::BatchEnd {} => "batch_end",
            EventKind::Skill { .. } => "skill",
            EventKind::SubagentStart { .. } => "subagent_start",
            EventKind::SubagentStop { .. } => "subagent_stop",
            EventKind::File { .. } => "file",
            EventKind::Tools { .. } => "tools",
            EventKind::ConfigChanged { .. } => "config_changed",
            EventKind::State { .. } => "state",
            EventKind::Command { .. } => "command",
        }
    }

    /// The id of the subagent that acts, or `None` for the main agent.
    pub fn subagent(&self) -> Option<&str> {
        self.agent.as_ref().map(|agent| agent.id.as_str()).filter(|id| !id.is_empty())
    }

    /// The canonical name of the tool of a `tool_call` event.
    pub fn tool_name(&self) -> Option<&str> {
        let EventKind::ToolCall { tool, server, .. } = &self.kind else { return None };
        let split = if server.is_none() { split_native(tool) } else { None };
        Some(split.map_or(tool.as_str(), |(_, name)| name))
    }

    /// The labels of the tool of a `tool_call` event: its own, else what is known of built-in tools.
    pub fn labels(&self) -> Option<Labels> {
        let EventKind::ToolCall { tool, server, labels, input, .. } = &self.kind else { return None };
        let split = if server.is_none() { split_native(tool) } else { None };
        let (server, name) = split.map_or((server.as_deref(), tool.as_str()), |(server, name)| (Some(server), name));
        Some(labels.clone().unwrap_or_else(|| known_labels(server, name, input)))
    }

    /// The call of a `tool_call` event, with the built-in tools' labels where the event has none.
    pub fn call(&self) -> Option<Call> {
        let EventKind::ToolCall { id, tool, native, server, input, labels, background, analysis } = &self.kind else {
            return None;
        };
        // `mcp__lsp__apply_edit` without a server is `apply_edit` of `lsp`, under the name that hosts show.
        let split = if server.is_none() { split_native(tool) } else { None };
        let (server, name, native) = match split {
            Some((server, name)) => (Some(server.to_string()), name.to_string(), native.clone().or(Some(tool.clone()))),
            None => (server.clone(), tool.clone(), native.clone()),
        };
        let labels = labels.clone().unwrap_or_else(|| known_labels(server.as_deref(), &name, input));
        Some(Call {
            id: id.clone(),
            tool: Tool { name, native, server, labels },
            input: input.clone(),
            analysis: analysis.clone(),
            background: *background,
        })
    }

    /// Reads one event from the object of a transcript line or a journal record.
    ///
    /// # Errors
    ///
    /// A sentence that names the field: not an object, an unknown event or field, a value of the wrong
    /// type, a required field missing, or a combination that means nothing (both `ok` and `outcome`).
    pub fn from_value(value: Value) -> Result<Self, String> {
        let Value::Object(mut fields) = value else {
            return Err("an event is an object with a field `event`".to_string());
        };
        let mut envelope = Map::new();
        for name in ENVELOPE {
            if let Some(value) = fields.remove(name) {
                envelope.insert(name.to_string(), value);
            }
        }
        let kind: EventKind = serde_json::from_value(Value::Object(fields)).map_err(|error| plain(&error))?;
        let head: Envelope = serde_json::from_value(Value::Object(envelope)).map_err(|error| plain(&error))?;
        kind.check()?;
        Ok(Self {
            session: head.session,
            time: head.time,
            cwd: head.cwd,
            principal: head.principal,
            permission_mode: head.permission_mode,
            agent: head.agent,
            stated: head.stated,
            changed: head.changed,
            kind,
        })
    }

    /// The object that [`Event::from_value`] reads back; `Null` if a value cannot be written as JSON.
    pub fn to_value(&self) -> Value {
        let head = Envelope {
            session: self.session.clone(),
            time: self.time,
            cwd: self.cwd.clone(),
            principal: self.principal.clone(),
            permission_mode: self.permission_mode.clone(),
            agent: self.agent.clone(),
            stated: self.stated.clone(),
            changed: self.changed.clone(),
        };
        let (Ok(Value::Object(head)), Ok(Value::Object(mut fields))) =
            (serde_json::to_value(head), serde_json::to_value(&self.kind))
        else {
            return Value::Null;
        };
        fields.extend(head);
        Value::Object(fields)
    }
}

/// The parser's words, without those that only its makers use.
fn plain(error: &serde_json::Error) -> String {
    error.to_string().replace("unknown variant", "unknown name").replace("invalid type", "wrong type")
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Envelope {
    #[serde(skip_serializing_if = "String::is_empty")]
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stated: Option<Box<Stated>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
}

impl EventKind {
    fn check(&self) -> Result<(), String> {
        if let Self::ToolResult { outcome, ok, .. } = self
            && outcome.is_some() == ok.is_some()
        {
            return Err("`tool_result` has exactly one of `outcome` and `ok`".to_string());
        }
        if let Self::File { path, content, sha256, absent, .. } = self {
            let given =
                usize::from(content.is_some()) + usize::from(sha256.is_some()) + usize::from(*absent == Some(true));
            if given != 1 {
                return Err(format!("`file` {path}: exactly one of `content`, `sha256` and `absent: true` is given"));
            }
            let digest = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            if sha256.as_ref().is_some_and(|text| !digest(text)) {
                return Err(format!("`file` {path}: `sha256` is 64 hexadecimal digits"));
            }
        }
        Ok(())
    }
}
