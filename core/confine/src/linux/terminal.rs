//! Whose keys the terminal sends where.

use rustix::process::{Pid, getpgrp};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// The group in the terminal's foreground when the command began.
pub(super) struct Foreground(Option<Pid>);

impl Foreground {
    /// Remembers the group if it is this process's own.
    pub(super) fn remember() -> Self {
        let group = tcgetpgrp(rustix::stdio::stdin()).ok();
        Self(group.filter(|group| *group == getpgrp()))
    }

    /// Gives the terminal back, which an interactive command takes and cannot return to a group that it does not see.
    pub(super) fn restore(&self) {
        if let Some(group) = self.0 {
            let _ = tcsetpgrp(rustix::stdio::stdin(), group);
        }
    }
}
