//! Phases as written.

use std::collections::BTreeMap;

use phasegate_core::policy::{Confine, Spent};
use serde::Deserialize;

use super::choices::LeaveSource;
use super::matcher::{ConditionSource, MatcherSource};
use super::unlisted::UnlistedRuleSource;

/// A phase: what it allows, what it forbids, what completes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSource {
    /// What the agent has to do in the phase, as a sentence without a subject, or the file of a text. Every denial says it.
    #[serde(rename = "do")]
    pub task: TaskSource,
    /// The name of `do` in the compatible form and in `tool_permissions` of a `SKILL.md`.
    pub description: Option<String>,
    /// The calls that the phase allows. A call that only a later phase allows asks to enter that phase.
    pub allowed: Vec<MatcherSource>,
    /// The calls that the phase forbids, even if `allowed` lists them.
    pub forbidden: Vec<MatcherSource>,
    /// How to answer calls that no line lists while the run is in the phase. The default is the skill's `unlisted`.
    pub unlisted: Option<UnlistedRuleSource>,
    /// Whether the kernel holds shell lines in the phase: `required` lets only lines run that are known to read where it
    /// cannot; with `off` lines are judged by their text. The default is the skill's `confine`.
    pub confine: Option<Confine>,
    /// The condition for entering the phase.
    pub requires: Option<ConditionSource>,
    /// The condition that completes the phase. Only calls of the current visit count. Without it a run can leave the
    /// phase at any time.
    pub done_when: Option<ConditionSource>,
    /// The condition under which the phase has failed, whatever else holds. With `on_failure` that edge is then open, and with
    /// `leave: on_done` it is taken; without one the run fails if a phase of another skill consists of it. The default, with
    /// `on_failure`: the newest call whose success or end `done_when` asks for failed.
    pub failed_when: Option<ConditionSource>,
    /// The artifacts that the phase makes or changes. It is done only when each of them is there, and only phases that produce
    /// an artifact may write it.
    pub produces: Vec<String>,
    /// The type of the subagent that does the phase. The main agent may start it and read; the lines and the evidence of the
    /// phase are the subagent's alone, and `leave` is `on_done`. Without another condition the phase is done when the
    /// subagent ended.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub done_by: Option<String>,
    /// The runs that the phase consists of: the name of a skill; a list of names, one after the other; `parallel`, all at
    /// once; or `each`, one for each element of a plan. Such a phase has no lines but `forbidden`: the calls are those of the runs. It is done when they have finished,
    /// and fails when one of them fails, or when what it `produces` is not there then; `leave` is `on_done`.
    pub run: Option<RunSource>,
    /// Whether the phase may be skipped: `true`, or `when` a condition holds. By default a person alone skips it; with `false`
    /// nobody does, and a person can only say that it is done (`phasegate advance`).
    pub optional: Option<OptionalSource>,
    /// When a run leaves the completed phase.
    pub leave: Option<LeaveSource>,
    /// The phases that can follow, first choice first. The default is the next phase in the file. An empty list ends
    /// the skill.
    pub next: Option<Vec<NextSource>>,
    /// Rollback edges to earlier phases.
    pub back: Vec<BackSource>,
    /// The rollback edge that opens if the phase failed, as `failed_when` says.
    pub on_failure: Option<BackSource>,
}

/// The runs that a phase consists of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum RunSource {
    /// One run of a skill.
    Skill(String),
    /// Runs of several skills, in order.
    List(Vec<String>),
    /// Runs that go on at once.
    Parallel(ParallelSource),
    /// A run for each element of a plan.
    Each(Box<EachSource>),
}

/// A run for each element of a plan, in waves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EachSource {
    /// The artifact that is the plan: one file of JSON.
    pub each: String,
    /// The JSON pointer to the list of elements, for example `/tasks`; empty: the file is the list.
    #[serde(default)]
    pub at: String,
    /// The field that names an element. The default is `id`.
    pub id: Option<String>,
    /// The field with the names of the elements that must have finished before.
    pub after: Option<String>,
    /// The field with the number of the wave. The elements of a wave begin when those of the wave before have finished.
    pub barrier: Option<String>,
    /// The skill that each element is a run of. Its inputs have the values of fields of the same names.
    pub skill: String,
    /// What must hold after each wave, by calls that count only once the wave has finished.
    pub gate: Option<ConditionSource>,
}

/// Runs that go on at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ParallelSource {
    /// The name of each branch, and the skill that it runs.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub parallel: BTreeMap<String, BranchSource>,
}

/// A branch: the name of a skill, or an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum BranchSource {
    /// The name of the skill.
    Skill(String),
    /// The skill, and what becomes of the phase if its run fails.
    Object(BranchObject),
}

/// A branch of a parallel phase.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BranchObject {
    /// The name of the skill.
    pub skill: String,
    /// `false`: the phase goes on where the run fails. The default is `true`: the phase fails.
    #[serde(default)]
    pub fail_on_error: Option<bool>,
}

/// What an agent has to do in a phase.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TaskSource {
    /// In a sentence.
    Text(String),
    /// In a file.
    File(TaskFile),
}

impl Default for TaskSource {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// The file of what has to be done.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// A file of the folder `prompts` beside `config.yaml`: `prompts/NAME.md` or `prompts/NAME.txt`, of at most 4,000
    /// characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub file: String,
}

/// Whether a phase may be skipped.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum OptionalSource {
    /// Always (`true`), or never, by nobody (`false`).
    Always(bool),
    /// While a condition holds.
    When(Box<OptionalWhen>),
}

/// The condition for skipping a phase.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OptionalWhen {
    /// The phase may be skipped while this holds.
    pub when: ConditionSource,
    /// What the agent is told where the phase is skipped. The default names the condition.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub text: Option<String>,
}

/// An edge to a following phase: its name, or an object with conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum NextSource {
    /// The name of the phase.
    Phase(String),
    /// An edge with conditions.
    Edge(Box<EdgeSource>),
}

/// An edge to a following phase, with conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EdgeSource {
    /// The phase it leads to.
    pub to: String,
    /// The condition for taking the edge.
    #[serde(default)]
    pub when: Option<ConditionSource>,
    /// Whether a call may take the edge before this phase is done.
    #[serde(default)]
    pub early: bool,
}

/// A rollback edge. It clears the evidence of its target phase and of all later phases.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BackSource {
    /// The phase it leads to.
    pub to: String,
    /// How often a run may take it.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 4_294_967_295_u64)))]
    pub limit: u32,
    /// A further condition.
    #[serde(default)]
    pub when: Option<ConditionSource>,
    /// What becomes of the run when the edge is asked for and its limit is spent. Without it the call is denied, and the run
    /// goes on.
    #[serde(default)]
    pub then: Option<Spent>,
}
