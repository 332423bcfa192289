//! Skills as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::choices::{Form, LeaveSkillSource, ModeSource, ScopeSource, UnlistedSource};
use super::matcher::MatcherSource;
use super::phase::PhaseSource;

/// A skill: the phases of a workflow and the rules that hold in them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SkillSource {
    /// The schema that an editor checks the file with; phasegate does not read it.
    #[serde(default, rename = "$schema")]
    pub schema: Option<String>,
    /// The name, as the agent activates it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub skill: String,
    /// What the skill is for, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Which rules hold where the skill does not say otherwise. Files of phasegate's own are `strict` without it.
    #[serde(default)]
    pub form: Option<Form>,
    /// The least strict mode a run may have. Without it whoever activates the skill chooses.
    #[serde(default)]
    pub mode: Option<ModeSource>,
    /// Where runs live, `session` without it.
    #[serde(default)]
    pub scope: Option<ScopeSource>,
    /// What happens to calls that no line lists: `read_only` without it, in the compat form `allow`.
    #[serde(default)]
    pub unlisted: Option<UnlistedSource>,
    /// Who may deactivate the skill before its end: `finished` without it, in the compat form `agent`.
    #[serde(default)]
    pub leave_skill: Option<LeaveSkillSource>,
    /// `true`: only a person may deactivate the skill before its end, whatever `leave_skill` says.
    #[serde(default)]
    pub locked: bool,
    /// The MCP servers whose tools a name without a server allows.
    #[serde(default)]
    pub servers: Vec<String>,
    /// What single tools can do, by pattern.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolSource>,
    /// What is forbidden in every phase.
    #[serde(default)]
    pub global_forbidden: Vec<MatcherSource>,
    /// The phases by name. Their order is their order in the file.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub phases: BTreeMap<String, PhaseSource>,
}

/// What a tool can do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ToolSource {
    /// Words for what the tool can do: `read`, `write`, `execute`, `network`, or your own, to be used as `@word`. A tool with no label counts as writing.
    pub labels: Vec<String>,
    /// Arguments of a useful call, shown to an agent that needs a way on. A text `{file}` stands for the file of the call that was denied.
    pub example: Option<BTreeMap<String, Value>>,
}
