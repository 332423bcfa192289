//! Objects: what a call is about, as far as a condition ties evidence to it (rules 3.3).

use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::analysis::{Access, UNKNOWN, UNNAMED};
use crate::calls::tool::Call;
use crate::prelude::*;

/// The most values that are compared.
const MAX_VALUES: usize = 1_000;

/// What of a call names its object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Selector {
    /// The paths that it writes or removes.
    Writes,
    /// An argument, by name; a dot goes into an object.
    Argument(String),
}

/// The word for the paths that a call writes.
const WRITES: &str = "writes";

impl From<String> for Selector {
    fn from(text: String) -> Self {
        if text == WRITES { Self::Writes } else { Self::Argument(text) }
    }
}

impl From<Selector> for String {
    fn from(selector: Selector) -> Self {
        match selector {
            Selector::Writes => WRITES.to_string(),
            Selector::Argument(path) => path,
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Self::Argument(path) = self { path } else { WRITES })
    }
}

/// A condition that two calls are about the same: every value of `mine` is among those of `its`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// What names the object of the call that is evidence.
    pub its: Selector,
    /// What names the object of the call that is judged.
    pub mine: Selector,
}

impl Selector {
    /// The values, with paths relative to the project; `None` if they are not all known.
    pub fn values(&self, call: &Call) -> Option<Vec<String>> {
        let values = match self {
            Self::Writes => written(call)?,
            Self::Argument(path) => argument(call, path)?,
        };
        (!values.is_empty() && values.len() <= MAX_VALUES).then_some(values)
    }
}

fn written(call: &Call) -> Option<Vec<String>> {
    let writes = |access| matches!(access, Access::Write | Access::Remove);
    let paths = call.analysis.paths.iter().filter(|path| writes(path.access));
    let known = |path: &crate::calls::analysis::PathUse| {
        let known = ![UNKNOWN, UNNAMED].contains(&path.written.as_str());
        path.resolved.clone().filter(|_| known)
    };
    paths.map(known).collect()
}

fn argument(call: &Call, path: &str) -> Option<Vec<String>> {
    if let Some(before) = &call.analysis.redacted
        && let Some(values) = before.values.get(path)
    {
        return Some(values.clone());
    }
    let found = path.split('.').try_fold(&call.input, |value, key| value.get(key))?;
    match found {
        Value::Array(items) => items.iter().map(|item| text(call, item)).collect(),
        one => Some(alloc::vec![text(call, one)?]),
    }
}

fn text(call: &Call, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(place(call, text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text as a path of the project, if it may be one: as the analysis resolved it, else without `.`, `..` and doubled
/// slashes. Any other text stays as it is.
fn place(call: &Call, text: &str) -> String {
    let resolved = call.analysis.paths.iter().find(|path| path.written == text).and_then(|path| path.resolved.clone());
    resolved.or_else(|| call.analysis.in_project.get(text).cloned()).unwrap_or_else(|| plain(text))
}

fn plain(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if text.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_path_is_compared_without_its_detours() {
        let cases = [
            ("src/a.rs", "src/a.rs"),
            ("./src//a.rs", "src/a.rs"),
            ("src/x/../a.rs", "src/a.rs"),
            ("../a.rs", "../a.rs"),
            ("/w/./a", "/w/a"),
            ("a symbol", "a symbol"),
        ];
        cases.into_iter().for_each(|(text, wanted)| assert_eq!(plain(text), wanted, "{text}"));
    }
}
