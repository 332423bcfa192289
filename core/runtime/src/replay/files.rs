//! The files of a transcript: the world as its `file` lines say, and the real one where that is asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phasegate_core::event::EventKind;
use phasegate_core::tool::{Access, PathUse};
use phasegate_core::{Event, FactKey, FactValue, Facts};

use crate::digest::sha256_hex;
use crate::facts;

/// What is known of the files.
#[derive(Debug, Default)]
pub(super) struct Files {
    live: Option<PathBuf>,
    stated: BTreeMap<String, Stated>,
}

#[derive(Debug)]
enum Stated {
    Content(String),
    Sha256(String),
    Absent,
}

impl Files {
    pub(super) fn new(live: Option<PathBuf>) -> Self {
        Self { live, stated: BTreeMap::new() }
    }

    /// A `file` line: the file is, from now on, as stated.
    pub(super) fn set(&mut self, path: &str, cwd: Option<&str>, content: Option<&str>, sha256: Option<&str>) {
        let stated = match (content, sha256) {
            (Some(content), _) => Stated::Content(content.to_owned()),
            (None, Some(digest)) => Stated::Sha256(digest.to_ascii_lowercase()),
            (None, None) => Stated::Absent,
        };
        self.stated.insert(normal(path, cwd), stated);
    }

    /// Answers the keys that `facts` does not answer yet; unknown where neither a line nor a live file tells.
    pub(super) fn gather(&self, keys: Vec<FactKey>, facts: &mut Facts) {
        let mut unstated = Vec::new();
        for key in keys {
            match self.stated(&key) {
                Some(value) => {
                    facts.insert(key, value.into());
                }
                None => unstated.push(key),
            }
        }
        match &self.live {
            Some(root) => facts::gather(root, &unstated, facts),
            None => facts.extend(unstated.into_iter().map(|key| (key, FactValue::Unknown.into()))),
        }
    }

    fn stated(&self, key: &FactKey) -> Option<FactValue> {
        let (FactKey::File(path) | FactKey::Count { path, .. }) = key;
        Some(match (self.stated.get(&normal(path, None))?, key) {
            (Stated::Absent, _) => FactValue::Absent,
            (Stated::Content(text), FactKey::File(_)) => FactValue::File(sha256_hex(text.as_bytes())),
            (Stated::Content(content), FactKey::Count { text, .. }) if !text.is_empty() => {
                FactValue::Count(content.matches(text.as_str()).count() as u64)
            }
            (Stated::Sha256(digest), FactKey::File(_)) => FactValue::File(digest.clone()),
            (Stated::Content(_) | Stated::Sha256(_), FactKey::Count { .. }) => FactValue::Unknown,
        })
    }
}

/// Fills in what a file tool's arguments say of paths, where the line itself has no reading.
pub(super) fn read_paths(event: &mut Event) {
    let cwd = event.cwd.clone();
    let EventKind::ToolCall { tool, input, reading, .. } = &mut event.kind else { return };
    let access = match tool.as_str() {
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Access::Write,
        "Read" | "Grep" | "Glob" | "LS" => Access::Read,
        _ => return,
    };
    if !reading.is_empty() {
        return;
    }
    for name in ["file_path", "notebook_path", "path"] {
        if let Some(written) = input.get(name).and_then(serde_json::Value::as_str) {
            let resolved = Some(normal(written, cwd.as_deref()));
            reading.paths.push(PathUse { written: written.to_owned(), resolved, access });
        }
    }
}

/// A path without `.`, `..` and doubled slashes, relative to the transcript's working directory where it lies below it.
fn normal(path: &str, cwd: Option<&str>) -> String {
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd)).filter(|rest| rest.starts_with('/'));
    let absolute = inside.is_none() && path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in inside.unwrap_or(path).split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}
