//! Records as lines of a neutral transcript, which `phasegate replay` reads.

use std::collections::BTreeMap;

use phasegate_core::values::glob::path_fits;
use phasegate_core::{Decision, FactKey, FactValue};
use phasegate_store::digest::sha256_hex;
use serde_json::{Value, json};

use super::history::{Past, without_digests};

/// The most texts of files that are kept to say what stands in a file.
const MAX_TEXTS: usize = 1024;

/// The records of one session as lines of a transcript, one after the other.
#[derive(Debug, Default)]
pub struct Transcript {
    /// What the lines so far say of each file: its digest; `None`: it is absent.
    stated: BTreeMap<String, Option<String>>,
    /// The texts that calls wrote, by digest.
    texts: BTreeMap<String, String>,
}

impl Transcript {
    /// The lines that stand for the next record: a `file` line for each file that the decision asked about and that is not as
    /// said before, then the event.
    ///
    /// None for a frame that had no event, and for the invocation of a skill by which no run began, moved or ended: it may be one
    /// that only the client knows.
    pub fn lines(&mut self, session: &str, past: &Past) -> Vec<Value> {
        let name = past.event.get("event").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() || (name == "skill" && past.records.is_empty()) {
            return Vec::new();
        }
        let stamped = |mut line: Value| {
            if let Some(fields) = line.as_object_mut() {
                fields.extend([("session".into(), json!(session)), ("time".into(), json!(past.time))]);
            }
            line
        };
        let mut found = BTreeMap::new();
        past.facts.iter().for_each(|(key, fact)| self.found(key, &fact.value, &mut found));
        found.retain(|path, digest| self.stated.get(path) != Some(digest));
        let files: Vec<Value> = found.iter().map(|(path, digest)| self.file(path, digest.as_deref())).collect();
        self.stated.extend(found);
        self.called(past);
        files.into_iter().chain([without_digests(past.event.clone())]).map(stamped).collect()
    }

    /// What a fact says of files. Other facts cannot be stated in a transcript: `--live-files` looks them up.
    fn found(&self, key: &FactKey, value: &FactValue, found: &mut BTreeMap<String, Option<String>>) {
        let args = key.args();
        match (key.source(), args.as_str(), value) {
            ("file", Some(path), FactValue::Known(digest)) => {
                found.extend(digest.as_str().map(|digest| (path.to_owned(), Some(digest.to_owned()))));
            }
            ("file", Some(path), FactValue::Absent) => {
                found.insert(path.to_owned(), None);
            }
            ("contents", _, FactValue::Known(Value::Object(files))) => {
                let patterns: Vec<&str> = args.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let gone = self.stated.iter().filter(|(path, digest)| {
                    let selected = || patterns.iter().any(|pattern| path_fits(pattern, path));
                    digest.is_some() && !files.contains_key(*path) && selected()
                });
                found.extend(gone.map(|(path, _)| (path.clone(), None)));
                let digest = |digest: &Value| digest.as_str().map(ToOwned::to_owned);
                found.extend(files.iter().map(|(path, value)| (path.clone(), digest(value))));
            }
            _ => {}
        }
    }

    /// A line that says what a file is: what stands in it, where a call wrote that, else its digest.
    fn file(&self, path: &str, digest: Option<&str>) -> Value {
        let text = digest.and_then(|digest| self.texts.get(digest));
        match (digest, text) {
            (_, Some(text)) => json!({"event": "file", "path": path, "content": text}),
            (Some(digest), None) => json!({"event": "file", "path": path, "sha256": digest}),
            (None, None) => json!({"event": "file", "path": path, "absent": true}),
        }
    }

    /// Takes note of what a call writes: from then on nothing is known of the files that it names, until a decision asks.
    fn called(&mut self, past: &Past) {
        let called = past.event.get("event").and_then(Value::as_str) == Some("tool_call");
        if !called || !past.decision.as_ref().is_none_or(Decision::lets_through) {
            return;
        }
        let text = past.event.get("input").and_then(|input| input.get("content")).and_then(Value::as_str);
        if let Some(text) = text.filter(|_| self.texts.len() < MAX_TEXTS) {
            self.texts.insert(sha256_hex(text.as_bytes()), text.to_owned());
        }
        let paths = past.event.get("reading").and_then(|reading| reading.get("paths")).and_then(Value::as_array);
        let written =
            paths.into_iter().flatten().filter(|path| path.get("access").and_then(Value::as_str) != Some("read"));
        for path in written.filter_map(|path| path.get("resolved")?.as_str()) {
            self.stated.remove(path);
        }
    }
}
