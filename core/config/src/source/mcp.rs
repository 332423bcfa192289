//! What settings say of MCP servers, as written.

use std::collections::BTreeMap;

use phasegate_core::policy;
use serde::Deserialize;

/// What holds for MCP servers and their tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct McpSource {
    /// `true`: the proxy leaves tools that the current phase forbids out of the list that clients get.
    pub hide_forbidden: Option<bool>,
    /// What becomes of a call of a tool that its server describes otherwise than when it was first seen.
    pub changed_tools: Option<ChangedToolsSource>,
    /// Servers, by the name they have in the client's configuration.
    pub servers: BTreeMap<String, ServerSource>,
}

/// What holds for one MCP server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServerSource {
    /// `true`: what the server says of its tools (`readOnlyHint`, `destructiveHint`) is believed and becomes labels.
    pub trust_annotations: Option<bool>,
}

/// What becomes of a call of a changed tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangedToolsSource {
    /// It runs; agent and journal are told.
    Report,
    /// It is denied until a person accepts the tool with `phasegate approve`.
    Deny,
}

impl From<ChangedToolsSource> for policy::ChangedTools {
    fn from(changed: ChangedToolsSource) -> Self {
        match changed {
            ChangedToolsSource::Report => Self::Report,
            ChangedToolsSource::Deny => Self::Deny,
        }
    }
}
