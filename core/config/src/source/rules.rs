//! What settings say of rules, as written.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The rules over calls, beside those in the files of the folder `rules`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RulesSource {
    /// What becomes of a call that no rule of this level is about.
    pub default: Option<phasegate_rules::Default>,
    /// Shipped packs of rules that hold; `phasegate rules packs` lists them.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub packs: Vec<String>,
    /// What rules read of further tools, by the tool: `SERVER/TOOL`.
    pub tools: BTreeMap<String, RuleToolSource>,
}

/// What rules read of a tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RuleToolSource {
    /// What the tool can do, beside what its server says.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub labels: Vec<String>,
    /// Its arguments, by name.
    pub arguments: BTreeMap<String, phasegate_rules::Kind>,
}
