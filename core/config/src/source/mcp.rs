//! What settings say of MCP servers, as written.

use std::collections::BTreeMap;

use phasegate_core::policy::ChangedTools;
use serde::Deserialize;

/// Settings for MCP servers and their tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct McpSource {
    /// `true`: the proxy removes tools that the current phase forbids from the lists that clients get.
    pub hide_forbidden: Option<bool>,
    /// How to answer a call of a tool whose description changed since it was first seen.
    pub changed_tools: Option<ChangedTools>,
    /// Servers, by their name in the client's configuration; one that guards itself, by its own name.
    pub servers: BTreeMap<String, ServerSource>,
}

/// Settings for one MCP server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ServerSource {
    /// `true`: the server's hints about its tools (`readOnlyHint`, `destructiveHint`) become labels.
    pub trust_annotations: Option<bool>,
}
