//! Records as lines of a neutral transcript, which `phasegate replay` reads.

use std::collections::BTreeMap;

use phasegate_core::{FactKey, FactValue};
use serde_json::{Value, json};

use super::history::{Past, without_digests};

/// The lines that stand for a record: a `file` line for each file that the decision asked about, then the event.
///
/// None for a frame that had no event, and for the invocation of a skill that changed nothing.
#[must_use]
pub fn lines(session: &str, past: &Past) -> Vec<Value> {
    let name = past.event.get("event").and_then(Value::as_str).unwrap_or_default();
    if name.is_empty() || (name == "skill" && past.changes.is_empty()) {
        return Vec::new();
    }
    let stamped = |mut line: Value| {
        if let Some(fields) = line.as_object_mut() {
            fields.extend([("session".into(), json!(session)), ("time".into(), json!(past.time))]);
        }
        line
    };
    let files: BTreeMap<String, Value> = past.facts.iter().filter_map(|(key, fact)| file(key, &fact.value)).collect();
    files.into_values().chain([without_digests(past.event.clone())]).map(stamped).collect()
}

/// What a fact about a file says of it. Other facts cannot be stated in a transcript: `--live-files` looks them up.
fn file(key: &FactKey, value: &FactValue) -> Option<(String, Value)> {
    let path = (key.source() == "file").then(|| key.args().as_str().map(ToString::to_string)).flatten()?;
    let line = match value {
        FactValue::Known(digest) => json!({"event": "file", "path": path, "sha256": digest}),
        FactValue::Absent => json!({"event": "file", "path": path, "absent": true}),
        _ => return None,
    };
    Some((path, line))
}
