//! Exit statuses, all of them: 0, 1, 2 and 10, and of `phasegate confine` 73, 125, 126 and 127 beside the command's own.

use std::process::ExitCode;

/// The exit status of a hook with `--confirm` that denies nothing. A shell can so tell an answer from a program that did
/// nothing. Every other end of the program is an [`Exit`].
pub const CONFIRMED: u8 = 10;

/// The exit status of `phasegate confine read-only` where the command ended with 0, and not all that it changed is kept.
pub const NOT_KEPT: u8 = 73;
/// The exit status of `phasegate confine` where the command could not be confined. It has not run then.
pub const NOT_CONFINED: u8 = 125;
/// The exit status of `phasegate confine` where the program of the command may not be started, as in a shell.
pub const NO_PROGRAM_TO_START: u8 = 126;
/// The exit status of `phasegate confine` where there is no such program, as in a shell.
pub const NO_PROGRAM: u8 = 127;

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
