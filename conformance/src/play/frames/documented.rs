//! Frames that were written after a host's documentation, because the host cannot be recorded: `documented/HOST/*.jsonl`.
//! Each file names what it was written after, and the adapter names the host.

use phasegate_adapter::Adapter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::recordings::{Recordings, add};
use crate::loading::Loading;
use crate::trial::{Check, Mismatch};

/// `documented/HOST/source.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    /// The host's name as the adapter gives it.
    host: String,
    /// What the frames were written after, each with its date.
    after: Vec<String>,
}

/// The frames by `documented/HOST/NAME`, with one trial for each host.
pub(super) fn frames(loading: &mut Loading, adapter: &'static dyn Adapter) -> Recordings {
    let folder = format!("{}/documented/", adapter.id());
    let mut all = Recordings::new();
    for path in loading.below(&folder) {
        let Some(text) = loading.take(&path) else { continue };
        let place = path.strip_prefix(&folder).unwrap_or(&path);
        if let Some(name) = place.strip_suffix(".jsonl") {
            all.insert(format!("documented/{name}"), text.lines().map(str::to_string).collect());
        } else if let Some(host) = place.strip_suffix("/source.toml") {
            let source = match toml::from_str::<Source>(&text) {
                Ok(source) => source,
                Err(error) => {
                    loading.fails(&path, &error);
                    continue;
                }
            };
            let name = format!("documented/{host}/source.toml");
            add(loading, adapter, Check::Decode, &name, "documented", Box::new(move || source.check(adapter)));
        } else {
            loading.fails(&path, &"is no frames and no `source.toml`");
        }
    }
    all
}

impl Source {
    fn check(&self, adapter: &dyn Adapter) -> Vec<Mismatch> {
        let known = adapter.diagnostics().documented();
        let mut mismatches = Vec::new();
        if !known.contains(&self.host) {
            mismatches.push(Mismatch::new("source.toml", "host", json!(known), json!(self.host)));
        }
        if self.after.is_empty() {
            mismatches.push(Mismatch::new(
                "source.toml",
                "after",
                json!("what the frames were written after"),
                Value::Null,
            ));
        }
        mismatches
    }
}
