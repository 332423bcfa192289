//! The table of events, outcomes and versions: every cell has a recorded frame, or an expected failure with a reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use phasegate_adapter::Adapter;
use serde_json::{Value, json};

use super::recordings::{Recordings, add, decoded};
use crate::loading::Loading;
use crate::trial::{Check, Mismatch};

/// What every platform is asked to show. A detail follows the event's name where it has several.
const CELLS: &[&str] = &[
    "session_start startup",
    "session_start resume",
    "session_start clear",
    "session_start compact",
    "session_start fork",
    "session_start child",
    "session_end",
    "prompt",
    "message",
    "idle",
    "stop",
    "compact",
    "tool_call",
    "tool_call subagent",
    "tool_call server",
    "tool_result ok",
    "tool_result failed",
    "tool_result refused",
    "tool_result launched",
    "tool_result cancelled",
    "tool_result unknown",
    "permission asked",
    "permission granted",
    "permission refused",
    "batch_end",
    "skill agent",
    "skill human",
    "subagent_start",
    "subagent_stop",
    "config_changed",
];

/// One trial for each cell and version.
pub(super) fn trials(loading: &mut Loading, adapter: &'static dyn Adapter, recordings: &Arc<Recordings>) {
    for version in adapter.diagnostics().versions() {
        let recordings = Arc::clone(recordings);
        let seen = Arc::new(std::sync::OnceLock::new());
        for cell in CELLS {
            let (recordings, seen, version) = (Arc::clone(&recordings), Arc::clone(&seen), version.clone());
            let name = format!("cells/{version}/{cell}");
            let run = Box::new(move || {
                let seen: &BTreeSet<String> = seen.get_or_init(|| shown(adapter, &version, &recordings));
                let missing = (!seen.contains(*cell)).then(|| {
                    Mismatch::new(&version, "frames", json!(format!("a recorded frame that is `{cell}`")), Value::Null)
                });
                missing.into_iter().collect()
            });
            add(loading, adapter, Check::Decode, &name, "cells", run);
        }
    }
}

/// The cells that the recordings of a version fill.
fn shown(adapter: &dyn Adapter, version: &str, recordings: &Recordings) -> BTreeSet<String> {
    let mut cells = BTreeSet::new();
    let own = recordings.iter().filter(|(name, _)| name.split('/').next() == Some(version));
    for line in own.flat_map(|(_, frames)| decoded(adapter, frames).unwrap_or_default()) {
        for event in line.get("events").and_then(Value::as_array).into_iter().flatten() {
            let of = |key: &str| event.get(key).and_then(Value::as_str);
            let name = of("event").unwrap_or_default();
            cells.insert(name.to_string());
            let detail = ["outcome", "source", "by"].iter().find_map(|key| of(key));
            cells.extend(detail.map(|detail| format!("{name} {detail}")));
            cells.extend(of("server").map(|_| format!("{name} server")));
            let subagent = event.pointer("/agent/id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
            cells.extend(subagent.then(|| format!("{name} subagent")));
        }
    }
    cells
}
