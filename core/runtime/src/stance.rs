//! The stance: how a problem is answered, as far as that is known at the moment it happens.

use std::sync::{Arc, Mutex, PoisonError};

use phasegate_adapter::{Codec, FailureMode, Problem, Received, Refusal, Reply};
use phasegate_core::policy::Mode;

use crate::policy_store::Current;

/// How a problem is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stance {
    /// Not known yet: by a denial.
    #[default]
    Unknown,
    /// Something that could say that block mode applies is there and cannot be understood: by a denial, and nothing
    /// else is asked.
    Unsure,
    /// The project was never guarded: not at all.
    Unguarded,
    /// Nothing stricter than warn mode applies: by a warning.
    Warn,
    /// Block mode applies: by a denial.
    Block,
}

impl From<Mode> for Stance {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Warn => Self::Warn,
            Mode::Block => Self::Block,
        }
    }
}

impl Stance {
    /// How a problem is answered while configs mean this.
    #[must_use]
    pub fn of(current: &Current) -> Self {
        match current {
            Current::Unguarded => Self::Unguarded,
            Current::Ready(ready) => ready.strictest().into(),
            Current::Invalid { mode: Some(Mode::Block), .. } => Self::Block,
            Current::Invalid { unclear: true, .. } => Self::Unsure,
            Current::Invalid { mode, .. } => mode.map_or(Self::Unknown, Self::from),
        }
    }

    /// What happens to a frame that cannot be decided.
    #[must_use]
    pub fn failure_mode(self) -> FailureMode {
        match self {
            Self::Unguarded => FailureMode::Open,
            Self::Warn => FailureMode::Warn,
            Self::Unknown | Self::Unsure | Self::Block => FailureMode::Closed,
        }
    }

    /// The reply to a frame that could not be decided.
    #[must_use]
    pub fn answer(self, codec: &dyn Codec, received: Received<'_>, problem: Problem) -> Reply {
        tracing::warn!(code = %problem.code, stance = ?self, "{}", problem.message);
        Refusal { problem, failure_mode: self.failure_mode() }.reply(codec, received)
    }
}

/// A stance that several threads see: it is found out while the answer is made, and needed if that fails.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<Stance>>);

impl Watch {
    /// The stance as known now.
    #[must_use]
    pub fn get(&self) -> Stance {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a stance.
    pub fn set(&self, stance: Stance) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stance;
    }
}
