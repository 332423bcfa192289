//! What a server says it can do, extended by what the relay adds.

use serde_json::{Map, Value, json};

use super::shared::Shared;
use crate::message::object::{Object, replaced};
use crate::message::{Kind, Message};

/// The answer to `initialize` or `server/discover`, with tools among the capabilities where we add some, and the promise
/// to tell of changed lists where we change them.
pub(super) fn extended(shared: &Shared, message: Message) -> Message {
    if message.kind() != Kind::Result || !shared.own_tools() {
        return message;
    }
    match content(shared, message.content()) {
        Some(content) => message.with_content(&content),
        None => message,
    }
}

/// The same of the result alone; `None` if it may stay as it is.
pub(super) fn content(shared: &Shared, result: &[u8]) -> Option<Vec<u8>> {
    if !shared.own_tools() {
        return None;
    }
    let read = Object::read(result).ok()?;
    let capabilities = read.get("capabilities").unwrap_or("{}");
    let tools = Object::read(capabilities.as_bytes()).ok()?.get("tools").unwrap_or_default().to_owned();
    let tools = with_tools(shared, &tools)?;
    let capabilities = replaced(capabilities.as_bytes(), "tools", &tools)?;
    replaced(result, "capabilities", std::str::from_utf8(&capabilities).ok()?)
}

/// Adds what a server can do to what others can.
pub(super) fn merge(all: &mut Map<String, Value>, these: &Map<String, Value>) {
    for (key, value) in these {
        match (all.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            (Some(Value::Bool(known)), Value::Bool(more)) => *known |= *more,
            (Some(_), _) => {}
            (None, value) => drop(all.insert(key.clone(), value.clone())),
        }
    }
}

/// Takes out what several servers behind one relay cannot do: a list of tasks names no server, and neither does a
/// subscription of the revision without a handshake.
pub(super) fn narrow(capabilities: &mut Map<String, Value>, modern: bool) {
    if let Some(Value::Object(tasks)) = capabilities.get_mut("tasks") {
        tasks.remove("list");
    }
    for value in capabilities.values_mut().filter(|_| modern) {
        if let Value::Object(fields) = value {
            fields.remove("listChanged");
            fields.remove("subscribe");
        }
    }
}

/// The capability `tools`; `None` if it may stay as it is.
fn with_tools(shared: &Shared, tools: &str) -> Option<String> {
    let mut fields: Map<String, Value> = serde_json::from_str(tools).unwrap_or_default();
    let told = fields.get("listChanged").and_then(Value::as_bool) == Some(true);
    if !tools.is_empty() && (told || !shared.options.hide_forbidden) {
        return None;
    }
    if shared.options.hide_forbidden {
        fields.insert("listChanged".to_owned(), Value::from(true));
    }
    Some(Value::Object(fields).to_string())
}

/// Who answers.
pub(super) fn info() -> Value {
    json!({"name": "phasegate", "title": "phasegate", "version": env!("CARGO_PKG_VERSION")})
}
