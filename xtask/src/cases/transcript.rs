//! Lines of transcripts, and their answers.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::player::Player;

/// A subagent that does tasks.
pub(super) const AGENT: &str = "code-implementer-agent";

/// The line that imports a state.
pub(super) fn state(graph: &Value) -> Value {
    json!({"event": "state", "format": "active_task_graph", "value": graph})
}

/// A part of a value; nothing where there is none.
pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// An object with this field.
pub(super) fn with(mut object: Value, key: &str, value: Value) -> Value {
    object.as_object_mut().into_iter().for_each(|fields| drop(fields.insert(key.to_owned(), value.clone())));
    object
}

pub(super) fn skill(name: &str) -> Value {
    json!({"event": "tool_call", "tool": "Skill", "input": {"skill": name}})
}

pub(super) fn write(path: &str) -> Value {
    json!({"event": "tool_call", "tool": "Write", "input": {"file_path": path, "content": "a text"}})
}

/// What the last line is answered.
pub(super) fn last(player: &Player, lines: &[Value]) -> Result<Value> {
    Ok(player.answers(lines)?.pop().unwrap_or_default())
}

pub(super) fn allowed(answer: &Value) -> bool {
    at(answer, "/decision") == "allow"
}
