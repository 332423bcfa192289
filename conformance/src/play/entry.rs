//! What a record of a journal says of its event. A record leaves out what repeats the one before; what the event led to
//! stands there always.

use serde_json::Value;

/// Whether the event is of this kind.
pub(crate) fn is(record: &Value, kind: &str) -> bool {
    record.pointer("/event/event").and_then(Value::as_str) == Some(kind)
}

/// What the event changed.
pub(crate) fn changes(record: &Value) -> impl Iterator<Item = &Value> {
    record.get("changes").and_then(Value::as_array).into_iter().flatten()
}

/// Whether it is a call that was not let through.
pub(crate) fn is_denied(record: &Value) -> bool {
    is(record, "tool_call") && !changes(record).any(|change| change.get("call_opened").is_some())
}

/// Whether the agent wanted to end its turn and was kept from it.
pub(crate) fn is_kept(record: &Value) -> bool {
    changes(record).any(|change| change.pointer("/stop_held/held").is_some_and(Value::is_object))
}
