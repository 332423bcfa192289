//! Settings as written.

use std::collections::BTreeMap;

use phasegate_shell::Rule;
use serde::Deserialize;

use super::choices::{Form, ModeSource, UnlistedSource};
use super::matcher::MatcherSource;
use super::mcp::McpSource;

/// What holds for every skill, and which shipped skills apply.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SettingsSource {
    /// The schema that an editor checks the file with; phasegate does not read it.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The least strict mode any run may have.
    pub mode: Option<ModeSource>,
    /// `true`: only a person may deactivate any skill before its end.
    pub locked: bool,
    /// The least strict answer to calls that no line lists.
    pub unlisted: Option<UnlistedSource>,
    /// What is forbidden in every phase of every skill.
    pub global_forbidden: Vec<MatcherSource>,
    /// Shipped skills that apply here. A skill file of the same name stands in for the shipped one.
    #[serde(rename = "use")]
    pub uses: Vec<UseSource>,
    /// A file to which skill events are also written, as JSON Lines.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub audit_log: Option<String>,
    /// Arguments of calls that journals keep a digest of only, by name, for example `content`; `output` and `text` stand
    /// for what calls answer, and for prompts.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub redact: Vec<String>,
    /// Programs that shell lines may name, in the form of the shipped table; an entry stands in for the shipped one.
    pub programs: BTreeMap<String, Rule>,
    /// `false`: the repository's own configuration may name programs that no person chose, so `git status` and its like
    /// only read in a form that runs none of them.
    pub trust_repository: Option<bool>,
    /// What holds for MCP servers and their tools.
    pub mcp: McpSource,
}

/// A skill that applies: its name, or its name with choices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum UseSource {
    /// The name of the skill.
    Name(String),
    /// The name with choices.
    Object(UseObject),
}

/// A skill that applies, with choices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UseObject {
    /// The name of the skill.
    pub skill: String,
    /// Which form of the shipped skill, `strict` without it.
    #[serde(default)]
    pub form: Option<Form>,
    /// The least strict mode a run may have.
    #[serde(default)]
    pub mode: Option<ModeSource>,
}
