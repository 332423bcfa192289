//! Cases as written.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
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

/// Reads a file of cases.
pub(crate) fn read(file: &Path) -> Result<Vec<Case>> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, error))?;
    serde_json::from_str(&text).map_err(|error| Failure::file(file, error))
}
