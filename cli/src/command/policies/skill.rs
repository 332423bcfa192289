//! `phasegate skill`: skills as files.

mod list;
mod new;
mod show;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the skills: those of the project, and the shipped ones
    List(list::Args),
    /// Print the file of a skill, or a file that a skill names
    Show(show::Args),
    /// Write a new skill, with comments that explain it
    New(new::Args),
}

/// Does it.
///
/// # Errors
///
/// It could not be done.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args, context),
        Command::Show(args) => show::run(args, context),
        Command::New(args) => new::run(args, context),
    }
}
