//! How calls are answered that no skill decides: those of changed tools, and those that only read.

use serde::{Deserialize, Serialize};

/// How a call of a tool whose description changed since it was first seen is answered, from lenient to strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChangedTools {
    /// It runs, the agent gets a warning, and the journal records it.
    #[default]
    Report,
    /// It is denied until a person accepts the tool with `phasegate approve`.
    Deny,
}

/// Which calls are approved, so that the platform does not ask its user about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Approve {
    /// None.
    #[default]
    Never,
    /// A call whose every part only reads, names no path outside of the project, and talks to no other machine, but for a
    /// command that is registered as READ.
    Reads,
}
