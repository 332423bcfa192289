//! Cases as written.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use xtask::failure::{Failure, Result};

/// One case. Its other fields say where it comes from.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What there is before the calls.
    #[serde(default)]
    pub(crate) setup: Value,
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
    /// What the original does wrong here.
    pub(crate) upstream_quirk: Option<String>,
    /// What a command really does, where the original judges it wrongly.
    pub(crate) truth: Option<String>,
    /// What is to come out.
    #[serde(default)]
    pub(crate) expect: Value,
}

/// A call of a tool, or an operation whose name begins with `@`.
#[derive(Deserialize)]
pub(crate) struct Call {
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) args: Value,
}

impl Call {
    /// An argument, if it is a text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.args.get(name).and_then(Value::as_str)
    }
}

/// Reads a file of cases: a list, or lines with what was registered and one command each.
pub(crate) fn read(file: &Path) -> Result<Vec<Case>> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, error))?;
    if file.extension().is_none_or(|end| end != "jsonl") {
        return serde_json::from_str(&text).map_err(|error| Failure::file(file, error));
    }
    text.lines().map(|line| of_line(line).map_err(|error| Failure::file(file, error))).collect()
}

/// A line of a corpus as a case: its words are the setup, and the command is the only call.
fn of_line(line: &str) -> serde_json::Result<Case> {
    let setup: Value = serde_json::from_str(line)?;
    let text = |key: &str| setup.get(key).cloned().unwrap_or_default();
    let name = text("id").as_str().unwrap_or_default().to_owned();
    let call = Call { tool: "bash".to_owned(), args: json!({"command": text("cmd")}) };
    let expect = json!({"expect": text("expect"), "accept": text("accept")});
    Ok(Case { name, setup, calls: vec![call], upstream_quirk: None, truth: None, expect })
}
