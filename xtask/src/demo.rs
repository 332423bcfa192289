//! `cargo xtask demo`: recorded sessions, played through the real binary, a process for every frame.

use crate::failure::Result;
use crate::process::{cargo, run as run_command};

/// Which sessions.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sessions by name (`<adapter>/<story>@<version>`).
    sessions: Vec<String>,
    /// Every session.
    #[arg(long)]
    all: bool,
}

/// Plays the sessions.
pub(crate) fn run(args: &Args) -> Result {
    run_command(&mut cargo(&["build", "--quiet", "--package", "phasegate", "--package", "phasegate-conformance"]))?;
    let mut command = cargo(&["run", "--quiet", "--package", "phasegate-conformance", "--", "play"]);
    run_command(command.args(&args.sessions).args(args.all.then_some("--all")))
}
