//! Refusals: problems that keep a frame from being decided, and what the platform is told then.

use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::frame::Received;
use crate::problem::Problem;
use crate::reply::Reply;

/// What happens to a frame that cannot be decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// No policy guards the project and none ever did: the frame passes in silence.
    Open,
    /// Nothing stricter than warn mode applies: the frame passes, and the problem is reported.
    Warn,
    /// Block mode applies, or the mode is not known: the frame is denied.
    #[default]
    Closed,
}

/// A problem that keeps a frame from being decided, with its failure mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub problem: Problem,
    /// What happens to the frame.
    pub failure_mode: FailureMode,
}

impl Refusal {
    /// A refusal that denies.
    #[must_use]
    pub fn closed(problem: Problem) -> Self {
        Self { problem, failure_mode: FailureMode::Closed }
    }

    /// The reply: silence, a warning or a denial. No other place chooses between the three.
    #[must_use]
    pub fn reply(&self, codec: &dyn Codec, received: Received<'_>) -> Reply {
        match self.failure_mode {
            FailureMode::Open => Reply::Nothing,
            FailureMode::Warn => codec.warn(received, &self.problem),
            FailureMode::Closed => codec.refuse(received, &self.problem),
        }
    }
}
