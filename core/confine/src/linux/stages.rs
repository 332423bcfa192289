//! The running program as another process of itself, which knows by its name what it is for.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The process that lays the mounts and starts the command, as the list of processes names it.
pub(super) const INSIDE: &str = "phasegate: confined";
/// The process that enters a level and runs nothing.
pub(super) const TRIAL: &str = "phasegate: tries a level";

/// The running program as another stage.
pub(super) fn this_program(stage: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(stage);
    command
}
