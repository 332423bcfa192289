//! `phasegate confine`: a command, held by the kernel.

mod probe;
mod protect;
mod read_only;
mod request;

use std::process::ExitCode;

use crate::context::Context;
use crate::exit::NOT_CONFINED;

/// The arguments of `phasegate confine`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to hold the command.
    #[command(subcommand)]
    pub part: Part,
}

/// How to hold the command.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// Run a command that keeps no change: say on standard error what is not kept, and end with the command's own
    /// status, or with 73 where that is 0 and something is not kept
    ReadOnly(read_only::Args),
    /// Run a command that cannot change certain folders
    Protect(protect::Args),
    /// Try each level, and say which of them work here
    Probe(probe::Args),
}

/// Runs the command. Every failure ends with 125, and then the command has not run.
pub fn run(args: Args, context: &Context) -> ExitCode {
    let ended = match &args.part {
        Part::ReadOnly(args) => read_only::run(args, context),
        Part::Protect(args) => protect::run(args, context),
        Part::Probe(args) => probe::run(args, context),
    };
    ExitCode::from(ended.unwrap_or_else(|failure| {
        context.out.failure(&failure);
        NOT_CONFINED
    }))
}
