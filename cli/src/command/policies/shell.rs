//! `phasegate shell`: what a shell line would do, before it runs.

mod trust;
mod explain;
mod judge;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate shell`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do with lines.
    #[command(subcommand)]
    pub part: Part,
}

/// What to do with lines.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// Show the parts of a command, the verdict of each, and the word that decides; exit with 1 unless the command only
    /// reads
    Explain(explain::Args),
    /// Judge many commands: read JSON objects with `cmd`, print an object with `verdict`, `because` and `parts` for
    /// each
    Judge(judge::Args),
}

/// Judges lines.
///
/// # Errors
///
/// The input cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.part {
        Part::Explain(args) => Ok(explain::run(args, context)),
        Part::Judge(args) => judge::run(args, context),
    }
}
