//! `cargo xtask demo`: recorded sessions, played through the real binary, a process for every frame.

use crate::failure::Result;
use crate::process::{cargo, run as run_command};

/// Which sessions.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sessions by name (`<adapter>/<story>`), or all of them.
    sessions: Vec<String>,
}

/// Plays the sessions.
pub(crate) fn run(args: &Args) -> Result {
    run_command(&mut cargo(&["build", "--quiet", "--package", "phasegate", "--package", "phasegate-conformance"]))?;
    let mut command = cargo(&["run", "--quiet", "--package", "phasegate-conformance", "--", "play"]);
    run_command(command.args(&args.sessions))
}
