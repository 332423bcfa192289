//! The failure mode: what happens to a frame that cannot be decided. It is computed when that happens, from what is known.

use phasegate_adapter::FailureMode;
use phasegate_core::policy::Mode;

use crate::policies::policy_store::Current;
use crate::project::Remembered;

/// The failure mode while this mode is in force.
pub fn of_mode(mode: Mode) -> FailureMode {
    match mode {
        Mode::Warn => FailureMode::Warn,
        Mode::Block => FailureMode::Closed,
    }
}

/// The failure mode while configs mean this; `None`: they do not say.
pub fn of_configs(current: &Current) -> Option<FailureMode> {
    match current {
        Current::Unguarded => Some(FailureMode::Open),
        Current::Ready(ready) => Some(of_mode(ready.strictest())),
        Current::Invalid { mode: Some(Mode::Block), .. } | Current::Invalid { unclear: true, .. } => {
            Some(FailureMode::Closed)
        }
        Current::Invalid { mode, .. } => mode.map(of_mode),
    }
}

/// What is known once the journals are loaded.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What configs say, where they were asked.
    pub configs: Option<FailureMode>,
    /// What is remembered of the project.
    pub remembered: Option<Remembered>,
    /// Whether a live run, or the settings of the session, are in block mode.
    pub strict: bool,
    /// Whether the session has a policy.
    pub has_policy: bool,
}

impl Known {
    /// The failure mode; `None`: nothing says it.
    pub fn failure_mode(&self) -> Option<FailureMode> {
        let remembered = self.remembered.map(|memory| memory.mode);
        if self.strict || remembered == Some(Mode::Block) || self.configs == Some(FailureMode::Closed) {
            Some(FailureMode::Closed)
        } else if remembered.is_some() || self.has_policy || self.configs == Some(FailureMode::Warn) {
            Some(FailureMode::Warn)
        } else {
            self.configs
        }
    }
}
