//! Frames recorded from the real client: each to the neutral events it stands for, each reply to its bytes.

mod recordings;
mod cells;
mod encode;
mod provenance;
mod documented;
pub mod outside;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_adapter::Adapter;
use serde_json::{Value, json};

use crate::blessing::blessing;
use crate::compare::subset;
use crate::loading::Loading;
use crate::play::folders::cases;
use crate::trial::{Check, Mismatch};
use recordings::{add, decoded, recordings};

/// Adds the trials of an adapter's recorded frames: provenance, decode, encode, and that no cell is empty.
pub(crate) fn trials(loading: &mut Loading, adapter: &'static dyn Adapter) {
    let mut recordings = recordings(loading, adapter.id());
    provenance::trials(loading, adapter, &recordings);
    let documented = documented::frames(loading, adapter);
    let parts: BTreeMap<String, &str> = (recordings.keys().map(|name| (name.clone(), "recordings")))
        .chain(documented.keys().map(|name| (name.clone(), "documented")))
        .collect();
    recordings.extend(documented);
    let recordings = Arc::new(recordings);
    for (name, part) in &parts {
        let golden = format!("{}/decode/{name}.golden.jsonl", adapter.id());
        let _ = loading.take(&golden);
        let (recordings, case) = (Arc::clone(&recordings), name.clone());
        let run = Box::new(move || match recordings.get(&case) {
            Some(frames) => decode(adapter, frames, &cases().join(&golden)),
            None => Vec::new(),
        });
        add(loading, adapter, Check::Decode, name, part, run);
    }
    encode::trials(loading, adapter, &recordings);
    cells::trials(loading, adapter, &recordings);
}

fn decode(adapter: &dyn Adapter, frames: &[String], golden: &PathBuf) -> Vec<Mismatch> {
    let lines = match decoded(adapter, frames) {
        Ok(lines) => lines,
        Err(problem) => return vec![Mismatch::broken("recording", problem)],
    };
    if blessing() {
        let text: String = lines.iter().map(|line| format!("{}\n", sorted(line))).collect();
        let written =
            golden.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(golden, text));
        return written.err().map(|error| Mismatch::broken("golden file", error)).into_iter().collect();
    }
    let text = std::fs::read_to_string(golden).unwrap_or_default();
    let wanted: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    if wanted.len() != lines.len() {
        return vec![Mismatch::new("golden file", "frames", json!(wanted.len()), json!(lines.len()))];
    }
    let pairs = wanted.iter().zip(&lines).enumerate();
    pairs.flat_map(|(at, (wanted, got))| exactly(&format!("frame {}", at + 1), wanted, got)).collect()
}

/// Both directions, so that a field too many is a mismatch too.
fn exactly(place: &str, wanted: &Value, got: &Value) -> Vec<Mismatch> {
    let mut mismatches = subset(place, "", wanted, got);
    if mismatches.is_empty() && wanted != got {
        mismatches.push(Mismatch::new(place, "events", wanted.clone(), got.clone()));
    }
    mismatches
}

/// The value with sorted keys.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let ordered: BTreeMap<&String, Value> = fields.iter().map(|(key, value)| (key, sorted(value))).collect();
            json!(ordered)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
