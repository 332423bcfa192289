//! Modes: what a violation leads to.

use serde::{Deserialize, Serialize};

/// What a violation leads to, from lenient to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// The call runs; the agent gets a warning and the journal records it.
    Warn,
    /// The call is denied.
    Block,
}

impl Mode {
    /// The word of a config: `warn` or `block`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}
