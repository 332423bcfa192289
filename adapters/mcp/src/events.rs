//! Messages as neutral events: the pieces of which the adapter's decoding and the relay are made.

use phasegate_core::EventKind;
use phasegate_core::calls::analysis::CallAnalysis;
use phasegate_core::calls::tool::Labels;
use serde_json::Value;

use crate::message::object::{Object, is_alike};
use crate::strict;

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

/// A call by the name `called`, with these arguments, before it is forwarded.
pub fn tool_call(called: &str, input: Value, named: Named<'_>) -> EventKind {
    EventKind::ToolCall {
        id: Some(named.id),
        tool: named.tool.to_owned(),
        native: (called != named.tool).then(|| called.to_owned()),
        server: Some(named.server.to_owned()),
        input,
        labels: named.labels,
        background: false,
        analysis: CallAnalysis::default(),
    }
}

/// The keys of a tool that a model or a rule uses.
const PARTS: [&str; 6] = ["name", "description", "inputSchema", "outputSchema", "annotations", "title"];

/// What a server's answer to `tools/list` says.
///
/// # Errors
///
/// It lists nothing that can be read, or something that can be read in more than one way: what is pinned must be what the
/// client reads. What is wrong, as a fragment.
pub fn tools(server: &str, result: &[u8]) -> Result<EventKind, String> {
    let result = Object::read(result)?;
    if let Some(key) = result.doubtful(&["tools"]) {
        return Err(format!("the key `{key}` is given twice, or is one key to some and another to others"));
    }
    let json = result.get("tools").ok_or("`tools` is missing")?;
    let Value::Array(tools) = strict::read(json).map_err(|error| format!("`tools`: {error}"))? else {
        return Err("`tools` is not a list".into());
    };
    let alike = |key: &&String| PARTS.iter().any(|part| part != key && is_alike(part, key));
    match tools.iter().filter_map(Value::as_object).find_map(|tool| tool.keys().find(alike)) {
        Some(key) => Err(format!("`tools`: the key `{key}` is one key to some and another to others")),
        None => Ok(EventKind::Tools { server: server.to_owned(), tools }),
    }
}
