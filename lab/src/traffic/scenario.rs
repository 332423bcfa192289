//! A scenario as written: which client does what with which server, in which revision of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use xtask::failure::{Failure, Result};

/// `conformance/cases/mcp/scripts/NAME.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// What it shows, in a sentence.
    #[expect(dead_code, reason = "it is for whoever reads the file")]
    pub(super) title: String,
    /// The revision of the protocol that client and server agree on.
    pub(super) revision: String,
    /// The client: `typescript`, `python-1`, `python-2`, `inspector` or the id of a client that plays stories.
    pub(super) client: String,
    /// The server: `everything`, `test`, `phasegate` or `lsp`.
    pub(super) server: String,
    /// What the client does, one after another.
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    /// The story that is played, in place of steps.
    #[serde(default)]
    pub(super) story: Option<String>,
}

/// One thing that a client does; exactly one of the first seven is given.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Step {
    /// List the tools.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) tools: bool,
    /// List the resources.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) resources: bool,
    /// Read a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<String>,
    /// Get a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<String>,
    /// Call a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<String>,
    /// Do these at the same time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) together: Vec<Step>,
    /// Arguments of the call or prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Map<String, Value>>,
    /// When the client gives up on the call, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancel_after_ms: Option<u64>,
    /// Whether the call is asked for as a task.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) task: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Scenario {
    /// Reads a scenario.
    pub(super) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| Failure::new(error.to_string()))
    }

    /// What the client programs read.
    pub(super) fn plan(&self) -> Value {
        json!({"revision": self.revision, "steps": self.steps})
    }

    /// The inspector's word for the revision.
    pub(super) fn era(&self) -> &'static str {
        if self.revision.as_str() < "2026" { "legacy" } else { "modern" }
    }
}

impl Step {
    /// The inspector's arguments for the step.
    pub(crate) fn inspected(&self) -> Result<Vec<String>> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>();
        if self.tools {
            return Ok(words(&["--method", "tools/list"]));
        }
        if let Some(uri) = &self.read {
            return Ok(words(&["--method", "resources/read", "--uri", uri]));
        }
        let name = self.call.as_ref().ok_or_else(|| Failure::new("the inspector cannot do such a step"))?;
        let arguments = Value::Object(self.arguments.clone().unwrap_or_default()).to_string();
        Ok(words(&["--method", "tools/call", "--tool-name", name, "--tool-args-json", &arguments]))
    }
}
