//! What a fuzz target begins with: the inputs that the cases hold already.

use std::path::{Path, PathBuf};

use phasegate_core::Durability;
use phasegate_formats::journal::Entry;
use phasegate_store::file_store::FileStore;
use phasegate_store::state::JournalState;
use serde_json::Value;

use xtask::failure::{Failure, Result};
use xtask::root::root;

/// Writes the seeds of a target anew.
pub(super) fn make(name: &str, folder: &Path) -> Result {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    let seeds = match name {
        "adapter" => frames(),
        "config" => configs(),
        "journal" => journals()?,
        "shell" => lines(),
        "step" => stories(),
        _ => Vec::new(),
    };
    for (at, seed) in seeds.iter().enumerate() {
        let path = folder.join(format!("{at:05}"));
        std::fs::write(&path, seed).map_err(|error| Failure::file(&path, error))?;
    }
    Ok(())
}

/// Every recorded frame by itself, and the recordings in pieces.
fn frames() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for path in below("conformance/cases", "jsonl") {
        if path.components().any(|part| part.as_os_str() == "recordings") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            seeds.extend(lines.iter().map(|line| line.as_bytes().to_vec()));
            seeds.extend(lines.chunks(8).map(|piece| piece.join("\n").into_bytes()));
        }
    }
    seeds
}

/// Every config there is, each after the byte that says what it is.
fn configs() -> Vec<Vec<u8>> {
    let kinds = |path: &Path| match path.to_string_lossy() {
        name if name.ends_with(".md") => b'2',
        name if name.contains("config.yaml") || name.contains("settings.yaml") => b'0',
        _ => b'1',
    };
    let texts = ["yaml", "md", "json"].into_iter().flat_map(|end| {
        let places = ["core/config/tests/cases", "skills", "cli/tests/cmd"];
        places.into_iter().flat_map(move |place| below(place, end))
    });
    let mut seeds = Vec::new();
    for path in texts {
        let text = std::fs::read(&path).unwrap_or_default();
        seeds.push([&[kinds(&path)], text.as_slice()].concat());
    }
    seeds
}

/// Journals that a guard wrote: those of a recorded session, played anew, and pieces of them.
fn journals() -> Result<Vec<Vec<u8>>> {
    let folder = xtask::root::target().join("fuzz/session");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    }
    let path = folder.join("it.journal");
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let problem = |error: phasegate_store::error::StoreError| Failure::new(error.to_string());
    let deadline = phasegate_store::deadline::Deadline::new(std::time::Duration::from_secs(5));
    let mut seeds = Vec::new();
    let mut state = Any::default();
    for at in 0..40_i64 {
        let mut journal = match phasegate_store::journal::Journal::open::<Any>(&FileStore, &path, &deadline) {
            Ok((journal, _)) => journal,
            Err(error) => return Err(problem(error)),
        };
        let change =
            serde_json::json!({"at": at, "seen": [at % 3], "left": (at % 5 == 0).then_some("x"), "same": {"a": 1}});
        state.apply(&change);
        let entry = Entry { time: at, engine: "0".to_string(), changes: vec![change], ..Entry::default() };
        journal.append(&entry, &state, Durability::Written).map_err(problem)?;
        let bytes = std::fs::read(&path).map_err(|error| Failure::file(&path, error))?;
        if at % 4 == 3 {
            seeds.push(bytes.iter().take(bytes.len() - 7).copied().collect());
        }
        seeds.push(bytes);
    }
    Ok(seeds)
}

/// A state that is any JSON; a change replaces it.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Any(Value);

impl JournalState for Any {
    type Change = Value;

    fn apply(&mut self, change: &Value) {
        self.0.clone_from(change);
    }
}

/// The events of every story, one a line.
fn stories() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for path in below("conformance/cases", "json") {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let stories: Value = serde_json::from_str(&text).unwrap_or_default();
        for story in stories.as_array().into_iter().flatten() {
            let steps = story.get("steps").and_then(Value::as_array).into_iter().flatten();
            let lines: Vec<String> = steps.filter_map(|step| step.get("event")).map(Value::to_string).collect();
            if !lines.is_empty() {
                seeds.push(lines.join("\n").into_bytes());
            }
        }
    }
    seeds
}

/// Every line of the shell corpora.
fn lines() -> Vec<Vec<u8>> {
    let texts =
        below("conformance/shell", "jsonl").into_iter().map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let rows = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let line = |row: String| Some(serde_json::from_str::<Value>(&row).ok()?.get("cmd")?.as_str()?.as_bytes().to_vec());
    rows.filter_map(line).collect()
}

/// The files below a folder of the workspace that end so, sorted.
fn below(folder: &str, end: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(root().join(folder)).sort_by_file_name().into_iter().flatten();
    let paths = all.map(walkdir::DirEntry::into_path);
    paths.filter(|path| path.extension().is_some_and(|extension| extension == end)).collect()
}
