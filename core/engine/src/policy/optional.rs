//! Whether a phase may be skipped, and by whom.

use serde::{Deserialize, Serialize};

use crate::evidence::condition::Condition;
use crate::prelude::*;

/// Whether a phase may be skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optional {
    /// No agent may; a person may say so.
    No,
    /// Nobody may, not even a person.
    Never,
    /// It may.
    Yes,
    /// It may while this holds.
    When(Box<Condition>),
}

impl Optional {
    /// Whether an agent may skip the phase, now or under a condition.
    pub fn is_possible(&self) -> bool {
        matches!(self, Self::Yes | Self::When(_))
    }
}
