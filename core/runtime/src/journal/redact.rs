//! What a record does not repeat: long texts are replaced by their digest and length.

use serde_json::{Value, json};

use crate::digest::sha256_hex;

/// The longest text that is kept as it is, in bytes.
const LONGEST: usize = 4 * 1024;
/// The largest value that is kept, in bytes of JSON.
const LARGEST: usize = 64 * 1024;
/// The fields of an event that hold what others wrote.
const FIELDS: [&str; 6] = ["input", "output", "text", "prompt", "message", "content"];

/// Shortens an event as it goes into a record.
pub(crate) fn shorten_event(event: &mut Value) {
    let Value::Object(fields) = event else { return };
    for name in FIELDS {
        if let Some(value) = fields.get_mut(name) {
            shorten(value);
            if let Ok(text) = serde_json::to_string(value)
                && text.len() > LARGEST
            {
                *value = digest_of(text.as_bytes());
            }
        }
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => *value = digest_of(text.as_bytes()),
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The digest and length that stand for bytes that are not kept.
pub(crate) fn digest_of(bytes: &[u8]) -> Value {
    json!({"sha256": sha256_hex(bytes), "bytes": bytes.len()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_heaps_of_short_ones_become_digests() {
        let long = "x".repeat(LONGEST + 1);
        let many: Vec<_> = (0..20_000).map(|n| n.to_string()).collect();
        let mut event = json!({"event": "tool_call", "input": {"a": long, "b": "short"}, "output": many});
        shorten_event(&mut event);
        assert_eq!(event["input"]["b"], "short");
        assert_eq!(event["input"]["a"], digest_of(long.as_bytes()));
        assert_eq!(event["output"]["bytes"], serde_json::to_string(&many).unwrap().len());
    }
}
