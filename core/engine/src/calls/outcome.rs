//! How a call ended, and the result of a question about it.

use serde::{Deserialize, Serialize};

/// How a call ended.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It succeeded; for a call that runs a program, with a known exit status 0.
    Ok,
    /// It ran and failed.
    Failed,
    /// It never ran: the user or another guard refused it.
    Refused,
    /// It was started in the background; its end is still to come.
    Launched,
    /// It was interrupted.
    Cancelled,
    /// It is unknown.
    Unknown,
}

impl CallOutcome {
    /// The word of a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Launched => "launched",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// The result of a question to the user.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOutcome {
    /// The user was asked.
    Asked,
    /// The user agreed.
    Granted,
    /// The user refused.
    Refused,
}
