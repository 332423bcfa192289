//! Files that calls changed although they might not.

use serde::{Deserialize, Serialize};

use crate::policy::mode::Mode;
use crate::prelude::*;

/// A file that a call changed although it might not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForbiddenChange {
    /// The path, relative to the project, or absolute.
    pub path: String,
    /// The call that changed it, in words.
    pub call: String,
    /// The phase that forbids it; absent: the guard depends on the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ForbiddingPhase>,
}

/// The phase of a run that forbids to change a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForbiddingPhase {
    /// The id of the run; empty: none had begun, and the skill waits for what would have begun one.
    pub run: String,
    /// The name of its skill.
    pub skill: String,
    /// The version of the skill.
    pub version: String,
    /// The name of the phase.
    pub phase: String,
    /// What a violation of the run leads to.
    pub mode: Mode,
}
