//! Keys whose value is one of a few words.

use phasegate_core::policy;
use serde::Deserialize;

/// Which rules a skill follows where it does not say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Calls that nothing lists may only read, and the skill ends when its last phase is done.
    Strict,
    /// The rules of skill files that hold allowed and forbidden lists only: what nothing lists is allowed, the agent may leave at any time.
    Compat,
}

/// What happens to a call that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModeSource {
    /// The call goes on; the agent is told and the journal notes it.
    Warn,
    /// The call is denied.
    Block,
}

/// Where a skill's runs live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScopeSource {
    /// In one session.
    Session,
    /// In the project: all its sessions share the phase.
    Project,
}

/// What happens to a call that no line lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnlistedSource {
    /// It is allowed.
    Allow,
    /// It is allowed if its tool is labelled `read` and neither `write` nor `execute`.
    ReadOnly,
    /// It breaks a rule.
    Deny,
}

/// Who may deactivate the skill before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeaveSkillSource {
    /// The agent, at any time.
    Agent,
    /// The agent once the last phase is done; a person at any time.
    Finished,
    /// A person only.
    Human,
}

/// When a phase whose `done_when` holds is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeaveSource {
    /// By the call that belongs to a following phase.
    OnCall,
    /// As soon as `done_when` holds.
    OnDone,
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

impl From<LeaveSkillSource> for policy::LeaveSkill {
    fn from(leave: LeaveSkillSource) -> Self {
        match leave {
            LeaveSkillSource::Agent => Self::Agent,
            LeaveSkillSource::Finished => Self::Finished,
            LeaveSkillSource::Human => Self::Human,
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
