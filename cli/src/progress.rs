//! The progress of long work, on a terminal's standard error.

use std::io::{IsTerminal as _, Write as _};

use crate::output::Output;

/// One line that says how far the work is. It is shown only on a terminal, and never beside JSON.
#[derive(Debug)]
pub(crate) struct Progress {
    work: &'static str,
    shown: bool,
    /// The percentage on the screen.
    percent: Option<u64>,
}

impl Progress {
    /// The progress of work that this names.
    pub(crate) fn new(out: Output, work: &'static str) -> Self {
        Self { work, shown: !out.json && std::io::stderr().is_terminal(), percent: None }
    }

    /// Shows that `done` of `total` parts are done.
    pub(crate) fn set(&mut self, done: u64, total: u64) {
        let percent = done.saturating_mul(100).checked_div(total);
        if self.shown && percent.is_some() && percent != self.percent {
            self.percent = percent;
            let _ = write!(std::io::stderr(), "\r\x1b[K{} {} %", self.work, percent.unwrap_or_default());
        }
    }

    /// Takes the line off the screen.
    pub(crate) fn clear(self) {
        if self.percent.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
