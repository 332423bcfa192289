//! `cargo xtask demo`: plays recorded sessions through the real binary, one process per frame, and then the original's
//! walkthrough in its two forms.

use xtask::failure::Result;
use xtask::process::{build_programs, program, run as run_command};

/// The name that stands for the walkthrough alone.
const WALKTHROUGH: &str = "walkthrough";

/// Which sessions.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sessions by name (`<adapter>/<story>@<version>`), or `walkthrough` for the table of the original's walkthrough.
    sessions: Vec<String>,
    /// Every session.
    #[arg(long)]
    all: bool,
}

/// Plays the sessions; the walkthrough follows where no session was named.
pub(crate) fn run(args: &Args) -> Result {
    build_programs()?;
    let (tables, sessions): (Vec<&String>, Vec<&String>) = args.sessions.iter().partition(|name| *name == WALKTHROUGH);
    if args.all || !sessions.is_empty() || tables.is_empty() {
        run_command(runner("play").args(&sessions).args(args.all.then_some("--all")))?;
    }
    if sessions.is_empty() || !tables.is_empty() {
        run_command(&mut runner(WALKTHROUGH))?;
    }
    Ok(())
}

fn runner(task: &str) -> std::process::Command {
    let mut command = program("phasegate-conformance");
    command.arg(task);
    command
}
