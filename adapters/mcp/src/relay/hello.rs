//! What a server says it can do, extended by what the relay adds.

use serde_json::{Map, Value};

use super::shared::Shared;
use crate::message::{Kind, Message};
use crate::object::{Object, replaced};

/// The answer to `initialize` or `server/discover`, with tools among the capabilities where we add some, and the promise
/// to tell of changed lists where we change them.
pub(super) fn extended(shared: &Shared, message: Message) -> Message {
    if message.kind() != Kind::Result || !shared.own_tools() {
        return message;
    }
    let extended = || {
        let result = Object::read(message.content()).ok()?;
        let capabilities = result.get("capabilities").unwrap_or("{}");
        let tools = Object::read(capabilities.as_bytes()).ok()?.get("tools").unwrap_or_default().to_owned();
        let tools = with_tools(shared, &tools)?;
        let capabilities = replaced(capabilities.as_bytes(), "tools", &tools)?;
        replaced(message.content(), "capabilities", std::str::from_utf8(&capabilities).ok()?)
    };
    match extended() {
        Some(content) => message.with_content(&content),
        None => message,
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
