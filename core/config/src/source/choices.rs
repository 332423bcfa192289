//! Keys whose value is one of a few words.

use phasegate_core::policy;
use serde::Deserialize;

/// The set of default rules of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Unlisted calls may only read, and the skill ends when its last phase is done.
    Strict,
    /// The rules of skill files with only `allowed` and `forbidden` lists: unlisted calls are allowed, and the agent
    /// may leave at any time.
    Compat,
}

/// What the first phase of a skill has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FirstPhaseSource {
    /// Always entered, with lines of its own or one run.
    Linear,
}

/// Who may end the skill before its end, and whether the agent has to finish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishSource {
    /// The agent may end it, at any time.
    Agent,
    /// The agent may end it once the last phase is done; a person at any time.
    WhenDone,
    /// A person only may end it.
    Person,
    /// As `when_done`, and an agent that wants to end its turn before is told what is missing.
    Required,
}

/// When a run leaves a phase whose `done_when` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeaveSource {
    /// When a call of a following phase asks for it.
    OnCall,
    /// As soon as `done_when` holds.
    OnDone,
}

impl From<FinishSource> for policy::LeaveSkill {
    fn from(finish: FinishSource) -> Self {
        match finish {
            FinishSource::Agent => Self::Agent,
            FinishSource::WhenDone | FinishSource::Required => Self::Finished,
            FinishSource::Person => Self::Human,
        }
    }
}
