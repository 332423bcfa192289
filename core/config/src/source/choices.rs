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

/// How to answer a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeSource {
    /// The call runs; the agent gets a warning and the journal records it.
    Warn,
    /// The call is denied.
    Block,
}

/// Which calls the platform need not ask its user about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApproveSource {
    /// None.
    Never,
    /// A call whose every part only reads, names no path outside of the project, and talks to no other machine, but for a
    /// command that is registered as READ.
    Reads,
}

impl From<ApproveSource> for policy::Approve {
    fn from(source: ApproveSource) -> Self {
        match source {
            ApproveSource::Never => Self::Never,
            ApproveSource::Reads => Self::Reads,
        }
    }
}

/// What becomes of a violation in block mode. In warn mode the call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnViolationSource {
    /// The user is asked, and a yes lets that one call run. Where nobody can be asked, the call is denied. What the skill
    /// forbids in every phase is denied.
    Ask,
    /// The call is denied.
    Deny,
}

impl From<OnViolationSource> for policy::OnViolation {
    fn from(source: OnViolationSource) -> Self {
        match source {
            OnViolationSource::Ask => Self::Ask,
            OnViolationSource::Deny => Self::Deny,
        }
    }
}

/// How denials are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DenialTextSource {
    /// The reason, how to get on, and an object with the rest.
    Standard,
    /// `BLOCKED:` with the reason, the current phase, what was attempted, and how to get on.
    Blocked,
}

impl From<DenialTextSource> for policy::DenialText {
    fn from(source: DenialTextSource) -> Self {
        match source {
            DenialTextSource::Standard => Self::Standard,
            DenialTextSource::Blocked => Self::Blocked,
        }
    }
}

/// What the first phase of a skill has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FirstPhaseSource {
    /// Always entered, with lines of its own or one run.
    Linear,
}

/// Where a skill's runs live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScopeSource {
    /// In one session.
    Session,
    /// In the project: all its sessions share the run.
    Project,
}

/// How to answer a call that no line lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnlistedSource {
    /// It is allowed.
    Allow,
    /// It is allowed if its tool has the label `read` and neither `write` nor `execute`.
    ReadOnly,
    /// It is a violation.
    Deny,
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

/// What becomes of a run when a rollback edge is asked for and its limit is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThenSource {
    /// It has failed, and with it the phase of a run that consists of it. A run that is part of no other stands still: only
    /// calls that read are allowed until a person ends the skill or skips the phase.
    Halt,
    /// It stands still until a person says how it goes on.
    Person,
}

impl From<ThenSource> for policy::Spent {
    fn from(then: ThenSource) -> Self {
        match then {
            ThenSource::Halt => Self::Halt,
            ThenSource::Person => Self::Person,
        }
    }
}

impl From<ModeSource> for policy::Mode {
    fn from(mode: ModeSource) -> Self {
        match mode {
            ModeSource::Warn => Self::Warn,
            ModeSource::Block => Self::Block,
        }
    }
}

impl From<UnlistedSource> for policy::Unlisted {
    fn from(unlisted: UnlistedSource) -> Self {
        match unlisted {
            UnlistedSource::Allow => Self::Allow,
            UnlistedSource::ReadOnly => Self::ReadOnly,
            UnlistedSource::Deny => Self::Deny,
        }
    }
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

impl From<ScopeSource> for policy::Scope {
    fn from(scope: ScopeSource) -> Self {
        match scope {
            ScopeSource::Session => Self::Session,
            ScopeSource::Project => Self::Project,
        }
    }
}
