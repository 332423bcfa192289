//! Scopes: the session, or the project.

use serde::{Deserialize, Serialize};

/// Where the runs of a skill live, and whose calls a fact of rules counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scope {
    /// In one session.
    Session,
    /// In the project: all its sessions share the run.
    Project,
}
