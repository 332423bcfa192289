//! What settings say of the registry of command safety, as written.

use serde::Deserialize;

/// What agents may register about the commands of programs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SafetySource {
    /// The programs whose commands an agent may classify with `plan_skill_safety`, by their bare names. In the settings of the
    /// user and of the machine also `any`.
    pub programs: ProgramsSource,
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

/// The programs whose commands an agent may classify.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ProgramsSource {
    /// These, by their bare names.
    Named(#[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))] Vec<String>),
    /// All but those of which no agent registers a READ.
    Any(AnyProgram),
}

/// The word for every program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnyProgram {
    /// Every program.
    Any,
}

impl Default for ProgramsSource {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl ProgramsSource {
    /// The ones that are named.
    pub fn named(&self) -> &[String] {
        match self {
            Self::Named(names) => names,
            Self::Any(AnyProgram::Any) => &[],
        }
    }

    /// Whether every program is meant.
    pub fn is_any(&self) -> bool {
        matches!(self, Self::Any(_))
    }
}
