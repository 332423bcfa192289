//! What settings say of the registry of command safety, as written.

use serde::Deserialize;

/// What agents may register about the commands of programs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SafetySource {
    /// The programs whose commands an agent may classify with `plan_skill_safety`, by their bare names.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub programs: Vec<String>,
    /// Programs that an agent may classify although the table of programs says that they write, or no agent may register
    /// their commands as READ.
    #[serde(rename = "override")]
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub overrides: Vec<String>,
    /// `true`: the first pattern that selects a command decides, as in the original. Else WRITE wins over READ.
    pub compat: Option<bool>,
    /// `false`: the agent is not told of the tool at the beginning of a session.
    pub prompt: Option<bool>,
}
