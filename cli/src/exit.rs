//! Exit statuses, all of them: 0, 1, 2 and 10.

use std::process::ExitCode;

/// The exit status of a hook with `--confirm` that denies nothing. A shell can so tell an answer from a program that did
/// nothing. Every other end of the program is an [`Exit`].
pub const CONFIRMED: u8 = 10;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, and the answer is yes. A hook writes its reply to standard output.
    Done,
    /// 1: done, and the answer is no: a config has errors, a command was refused, `doctor` or `audit verify` found a
    /// problem.
    No,
    /// 2: it could not be done: arguments, input or state cannot be used. For a platform, a hook with this status denies.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Failed => 2,
        })
    }
}
