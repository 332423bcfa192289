//! Phases as written.

use serde::Deserialize;

use super::choices::LeaveSource;
use super::condition::ConditionSource;
use super::matcher::MatcherSource;

/// A phase: what is allowed, what is forbidden, what completes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSource {
    /// What the phase is for, in a sentence. Shown to the agent.
    pub description: String,
    /// What may be called. A call that only a later phase allows asks to enter that phase.
    pub allowed: Vec<MatcherSource>,
    /// What may not be called, whatever else allows it.
    pub forbidden: Vec<MatcherSource>,
    /// What must hold before the phase is entered.
    pub requires: Option<ConditionSource>,
    /// What completes the phase. Only calls made during the present visit count. Without it the phase can be left at any time.
    pub done_when: Option<ConditionSource>,
    /// Whether the phase may be passed over: `true`, or `when` a condition holds.
    pub optional: Option<OptionalSource>,
    /// When the completed phase is left.
    pub leave: Option<LeaveSource>,
    /// The phases that can follow, first choice first. Without it: the next one in the file. An empty list ends the skill.
    pub next: Option<Vec<NextSource>>,
    /// Ways back to earlier phases.
    pub back: Vec<BackSource>,
    /// The way back that opens when a call of this phase failed.
    pub on_failure: Option<BackSource>,
}

/// Whether a phase may be passed over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum OptionalSource {
    /// It may (`true`) or not (`false`).
    Always(bool),
    /// It may while a condition holds.
    When(Box<OptionalWhen>),
}

/// The condition under which a phase may be passed over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OptionalWhen {
    /// The phase may be passed over while this holds.
    pub when: ConditionSource,
}

/// A way forward: the name of a phase, or an edge with conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NextSource {
    /// The name of the phase.
    Phase(String),
    /// An edge with conditions.
    Edge(Box<EdgeSource>),
}

/// A way forward with conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EdgeSource {
    /// The phase it leads to.
    pub to: String,
    /// What must hold for the edge to be taken.
    #[serde(default)]
    pub when: Option<ConditionSource>,
    /// Whether a call may take it before this phase is done.
    #[serde(default)]
    pub early: bool,
}

/// A way back. The evidence of the phase it leads to and of all later ones is cleared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackSource {
    /// The phase it leads to.
    pub to: String,
    /// How often it may be taken in one run.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 4_294_967_295_u64)))]
    pub limit: u32,
    /// What must hold besides.
    #[serde(default)]
    pub when: Option<ConditionSource>,
}
