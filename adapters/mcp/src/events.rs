//! Messages as neutral events: the pieces of which the adapter's decoding and the relay are made.

use phasegate_core::EventKind;
use phasegate_core::event::Outcome;
use phasegate_core::tool::{Labels, Reading};
use serde_json::Value;

use crate::call::Call;
use crate::object::Object;

/// A call with what the message itself does not say.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    /// The id of the call's events.
    pub id: String,
    /// The server, by the name that policies use.
    pub server: &'a str,
    /// The tool's own name on its server.
    pub tool: &'a str,
    /// What the tool can do, where its server is trusted and says so.
    pub labels: Option<Labels>,
}

/// A call, before it is forwarded.
#[must_use]
pub fn tool_call(call: &Call, named: Named<'_>) -> EventKind {
    EventKind::ToolCall {
        id: Some(named.id),
        tool: named.tool.to_owned(),
        native: (call.name != named.tool).then(|| call.name.clone()),
        server: Some(named.server.to_owned()),
        input: call.input.clone(),
        labels: named.labels,
        background: false,
        reading: Reading::default(),
    }
}

/// The end of a call. What it answered is left out: no policy reads it, and it may hold anything.
#[must_use]
pub fn tool_result(id: String, tool: &str, outcome: Outcome) -> EventKind {
    EventKind::ToolResult {
        id: Some(id),
        outcome: Some(outcome),
        ok: None,
        exit_code: None,
        output: None,
        tool: Some(tool.to_owned()),
        input: None,
    }
}

/// What a server's answer to `tools/list` says; `None` if it lists nothing that can be read.
#[must_use]
pub fn tools(server: &str, result: &[u8]) -> Option<EventKind> {
    let tools: Vec<Value> = serde_json::from_str(Object::read(result).ok()?.get("tools")?).ok()?;
    Some(EventKind::Tools { server: server.to_owned(), tools })
}
