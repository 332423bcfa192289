//! `phasegate safety`: what is registered of the commands of programs.

mod approve;
mod explain;
mod import;
mod judge;
mod list;
mod register;
mod suggestions;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is registered, and the programs that agents may classify
    List(list::Args),
    /// Register what commands of a program do, for every session of the project
    Register(register::Args),
    /// Let agents classify the commands of a program
    Approve(approve::Args),
    /// Show the patterns that skills suggest, and register them
    Import(import::Args),
    /// Show what each command of a line does, and which pattern says so
    Explain(explain::Args),
}

/// Does it.
///
/// # Errors
///
/// It could not be done.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args, context),
        Command::Register(args) => register::run(args, context),
        Command::Approve(args) => approve::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Explain(args) => explain::run(args, context),
    }
}
