//! `phasegate audit`: the journals of a project, to be read, exported and believed. Nothing is written.

pub(in crate::command) mod session;
pub(in crate::command) mod event;
mod export;
mod show;
mod verify;

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
    }
}
