//! Recorded frames, and the trials that they give.

use std::collections::BTreeMap;

use phasegate_adapter::{Adapter, Frame, Playback};
use serde_json::{Value, json};

use crate::loading::Loading;
use crate::play::relay;
use crate::trial::{Check, Mismatch, Trial};

/// The recordings of one adapter, by `VERSION/SCENARIO`: their frames.
pub(super) type Recordings = BTreeMap<String, Vec<String>>;

/// Adds one trial of an adapter.
pub(super) fn add(
    loading: &mut Loading,
    adapter: &dyn Adapter,
    check: Check,
    name: &str,
    part: &str,
    run: Box<dyn Fn() -> Vec<Mismatch> + Send + Sync>,
) {
    let id = format!("{}/{}/{name}", check.word(), adapter.id());
    let area = format!("{}/{part}", adapter.id());
    loading.trials.push(Trial { id, check, adapter: Some(adapter.id().into()), area, run });
}

pub(super) fn recordings(loading: &mut Loading, adapter: &str) -> Recordings {
    let folder = format!("{adapter}/recordings/");
    let mut all = Recordings::new();
    for path in loading.below(&folder) {
        let Some(name) = path.strip_prefix(&folder).and_then(|name| name.strip_suffix(".jsonl")) else { continue };
        if let Some(text) = loading.take(&path) {
            all.insert(name.to_string(), text.lines().map(str::to_string).collect());
        }
    }
    all
}

/// What the frames of a recording stand for: the platform's word, the events, the adapter's memory after each. The engine
/// keeps the open calls, as in a session that no policy guards. The relay remembers by itself.
pub(super) fn decoded(adapter: &dyn Adapter, frames: &[String]) -> Result<Vec<Value>, String> {
    if relay::plays(adapter) {
        return relay::decoded(frames);
    }
    let mut sessions: BTreeMap<String, Playback> = BTreeMap::new();
    let mut lines = Vec::new();
    for (at, text) in frames.iter().enumerate() {
        let failed = |problem| format!("frame {}: {problem}", at + 1);
        let frame = Frame::new(text.as_str());
        let message = adapter.codec().open(&frame).map_err(failed)?;
        let session = sessions.entry(message.session.clone()).or_default();
        let decoded = session.decode(adapter.codec(), &message).map_err(failed)?;
        let events: Vec<Value> = decoded.events.iter().map(phasegate_core::Event::to_value).collect();
        lines.push(json!({"hook": message.event, "events": events, "memory": decoded.memory}));
    }
    Ok(lines)
}
