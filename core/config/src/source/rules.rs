//! What settings say of rules, as written.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The rules over calls, beside those in the files of the folder `rules`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RulesSource {
    /// What becomes of a call that no rule of this level is about.
    pub default: Option<RuleDefaultSource>,
    /// Shipped packs of rules that hold; `phasegate rules packs` lists them.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub packs: Vec<String>,
    /// What rules read of further tools, by the tool: `SERVER/TOOL`.
    pub tools: BTreeMap<String, RuleToolSource>,
}

/// What becomes of a call that no rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleDefaultSource {
    /// It passes.
    Permit,
    /// It is denied: each part of a call needs a rule that permits it.
    Deny,
}

impl From<RuleDefaultSource> for phasegate_rules::Default {
    fn from(source: RuleDefaultSource) -> Self {
        match source {
            RuleDefaultSource::Permit => Self::Permit,
            RuleDefaultSource::Deny => Self::Deny,
        }
    }
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
    pub arguments: BTreeMap<String, ArgumentSource>,
}

/// What an argument of a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArgumentSource {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A list of texts.
    Texts,
}

impl From<ArgumentSource> for phasegate_rules::Kind {
    fn from(source: ArgumentSource) -> Self {
        match source {
            ArgumentSource::Text => Self::Text,
            ArgumentSource::Number => Self::Number,
            ArgumentSource::Flag => Self::Flag,
            ArgumentSource::Texts => Self::Texts,
        }
    }
}
