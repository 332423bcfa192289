//! Who caused something, and why a session began.

use serde::{Deserialize, Serialize};

/// How a session began.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionSource {
    /// A new session that does not continue another.
    Startup,
    /// An earlier session is resumed.
    Resume,
    /// A fork of an earlier session.
    Fork,
    /// The user cleared the conversation.
    Clear,
    /// The conversation was compacted; the session continues.
    Compact,
    /// A process started by a guarded session.
    Child,
}

/// Who caused an event.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The guarded agent, or a command that may be the agent's.
    Agent,
    /// The platform itself.
    Platform,
    /// A person, not through the agent.
    Human,
}
