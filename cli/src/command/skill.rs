//! `phasegate skill`: skills as files, and their runs from the first directive to the summary.

mod list;
mod new;
mod runs;
mod execution;
mod show;
mod start;
mod status;
mod steer;

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
    /// Begin a run of a skill in a session, and print what to do first
    Start(start::Args),
    /// Print what the agent of a session has to do next
    Next(steer::Which),
    /// Show the runs that a phase consists of, and where each stands
    Branch(steer::Which),
    /// End a run that is done, and print what its phases left
    Complete(steer::Which),
    /// Have a run stand still, with all its parts
    Halt(steer::Halt),
    /// Have a halted run go on, and print what to do next
    Resume(steer::Which),
    /// Show where the runs of each session stand, also those that have ended
    Status(status::Args),
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
        Command::Start(args) => start::run(args, context),
        Command::Next(args) => steer::next(args, context),
        Command::Branch(args) => steer::branch(args, context),
        Command::Complete(args) => steer::complete(args, context),
        Command::Halt(args) => steer::halt(args, context),
        Command::Resume(args) => steer::resume(args, context),
        Command::Status(args) => status::run(args, context),
        Command::New(args) => new::run(args, context),
    }
}
