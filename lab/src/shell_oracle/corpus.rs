//! The lines: files of `conformance/shell`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

const FOLDER: &str = "conformance/shell";
/// The file whose lines only read, by those who wrote them; mutations begin with them.
pub(super) const HARMLESS: &str = "should-allow";
/// The file of what somebody tried to get past the parser.
pub(super) const ADVERSARIAL: &str = "adversarial";
/// The corpora, by the names of their files.
const CORPORA: &[&str] = &["must-block", ADVERSARIAL, HARMLESS, "registry", "own", "typed"];

/// A line with where it is written.
#[derive(Clone)]
pub(super) struct Line {
    /// The corpus, or `mutations`.
    pub(super) corpus: &'static str,
    pub(super) id: String,
    pub(super) text: String,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    cmd: String,
}

#[derive(Deserialize)]
struct Own {
    id: Option<String>,
    cmd: String,
}

/// What is taken for granted: caches, and programs that readers run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Helpers {
    pub(super) caches: Vec<String>,
    /// Signals that a program sends to processes of its own.
    pub(super) own_signals: BTreeSet<String>,
    pub(super) runs: BTreeMap<String, BTreeSet<String>>,
}

impl Helpers {
    /// Reads the list.
    pub(super) fn load() -> Result<Self> {
        let path = root().join(FOLDER).join("helpers.toml");
        toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))
    }
}

/// The lines of a file of one's own.
pub(super) fn file(path: &Path) -> Result<Vec<Line>> {
    let rows = read(path)?;
    let row = |(at, text): (usize, &str)| {
        let row: Own = serde_json::from_str(text)
            .map_err(|error| Failure::new(format!("{}:{}: {error}", path.display(), at + 1)))?;
        Ok(Line { corpus: "file", id: row.id.unwrap_or_else(|| format!("{}", at + 1)), text: row.cmd })
    };
    rows.lines().enumerate().map(row).collect()
}

/// Every line of every corpus, in order.
pub(super) fn load() -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for corpus in CORPORA {
        let path = root().join(FOLDER).join(format!("{corpus}.jsonl"));
        for (at, text) in read(&path)?.lines().enumerate() {
            let row: Row = serde_json::from_str(text)
                .map_err(|error| Failure::new(format!("{}:{}: {error}", path.display(), at + 1)))?;
            lines.push(Line { corpus, id: row.id, text: row.cmd });
        }
    }
    Ok(lines)
}

/// The names of the corpora.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    CORPORA.iter().copied()
}
