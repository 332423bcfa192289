//! The calls, in the words of policies.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `calls.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    group: Vec<Group>,
}

/// Calls that are alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    what: String,
    #[serde(default = "shell")]
    tool: String,
    server: Option<String>,
    #[serde(default)]
    inputs: Vec<Map<String, Value>>,
    /// Inputs of the shell.
    #[serde(default)]
    lines: Vec<String>,
}

/// One call.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// What the calls like it are; empty for one that only leads to a phase.
    #[serde(default)]
    pub(super) group: String,
    #[serde(default = "shell")]
    pub(super) tool: String,
    pub(super) server: Option<String>,
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// Whether it fails, for one that leads to a phase.
    #[serde(default)]
    pub(super) fails: bool,
}

fn shell() -> String {
    "Bash".into()
}

impl Calls {
    pub(super) fn all(self) -> Vec<Call> {
        self.group.into_iter().flat_map(Group::calls).collect()
    }
}

impl Group {
    fn calls(self) -> Vec<Call> {
        let line = |line: &String| Map::from_iter([("command".to_owned(), json!(line))]);
        let inputs = self.lines.iter().map(line).chain(self.inputs.iter().cloned());
        let call = |input| Call {
            group: self.what.clone(),
            tool: self.tool.clone(),
            server: self.server.clone(),
            input,
            fails: false,
        };
        inputs.map(call).collect()
    }
}

impl Call {
    /// The call that starts a skill.
    pub(super) fn skill(name: &str) -> Self {
        let input = Map::from_iter([("skill".to_owned(), json!(name))]);
        Self { group: String::new(), tool: "Skill".into(), server: None, input, fails: false }
    }

    /// The call in a line: its tool and its first text.
    pub(super) fn shown(&self) -> String {
        let main = ["command", "file_path", "pattern", "url", "query"].iter().find_map(|name| self.input.get(*name));
        let text = main.or_else(|| self.input.values().next()).map(|value| match value {
            Value::String(text) => text.replace('\n', "\\n"),
            other => other.to_string(),
        });
        format!("{}: {}", self.tool, text.unwrap_or_default())
    }
}
