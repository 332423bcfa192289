//! `phasegate audit`: the journals of a project, to be read, exported, believed and explained. Nothing is written.

mod session;
mod event;
mod export;
mod show;
mod verify;
mod why;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate audit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What of it.
    #[command(subcommand)]
    pub part: Part,
}

/// What of the journals is asked for.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// Show what happened in a session, newest last
    Show(show::Args),
    /// Print the starts, transitions, violations and ends of runs, a JSON object a line
    Export(export::Args),
    /// Verify every journal of the project: records, hash chain, checkpoints
    Verify(verify::Args),
    /// Decide a record again and explain the result
    Why(why::Args),
}

/// Reads the journals.
///
/// # Errors
///
/// The session or the record is not known, or a journal cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.part {
        Part::Show(args) => show::run(args, context),
        Part::Export(args) => export::run(args, context),
        Part::Verify(args) => verify::run(args, context),
        Part::Why(args) => why::run(args, context),
    }
}
