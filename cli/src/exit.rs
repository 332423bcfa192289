//! Exit codes, all of them.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, and the answer is yes. A hook exits so with its reply on standard output.
    Done,
    /// 1: done, and the answer is no: a config has mistakes, a command was refused, a file would be changed by others.
    No,
    /// 2: it could not be done: arguments, input or state cannot be used. To a platform, a hook that exits so denies.
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
