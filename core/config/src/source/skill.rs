//! Skills as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::choices::{Form, LeaveSkillSource, ModeSource, ScopeSource, UnlistedSource};
use super::matcher::MatcherSource;
use super::phase::PhaseSource;

/// A skill: the phases of a workflow and their rules.
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
    /// The set of default rules. The default in phasegate's own files is `strict`.
    #[serde(default)]
    pub form: Option<Form>,
    /// The minimum mode of a run. Without it, the activation chooses the mode.
    #[serde(default)]
    pub mode: Option<ModeSource>,
    /// Where runs live. The default is `session`.
    #[serde(default)]
    pub scope: Option<ScopeSource>,
    /// How to answer calls that no line lists. The default is `read_only`, in the compat form `allow`.
    #[serde(default)]
    pub unlisted: Option<UnlistedSource>,
    /// Who may deactivate the skill before its end. The default is `finished`, in the compat form `agent`.
    #[serde(default)]
    pub leave_skill: Option<LeaveSkillSource>,
    /// `true`: only a person may deactivate the skill before its end, whatever `leave_skill` says.
    #[serde(default)]
    pub locked: bool,
    /// The MCP servers whose tools a bare name allows.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Labels and sample arguments of tools, by pattern.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolSource>,
    /// The calls that every phase forbids.
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
    /// What the tool can do: `read`, `write`, `execute`, `network`, or your own words, for use as `@word`. A tool
    /// without a label counts as writing.
    pub labels: Vec<String>,
    /// Arguments of a useful call, shown to an agent as a next call. `{file}` is replaced by the file of the denied
    /// call.
    pub example: Option<BTreeMap<String, Value>>,
}
