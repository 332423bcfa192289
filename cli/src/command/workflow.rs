//! `phasegate workflow`: runs of a project that outlive its sessions, and what a person does to them.

mod export;
mod found;
mod graph;
mod order;
mod start;
mod status;
mod steer;
mod tasks;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate workflow`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begin a run of a skill for the whole project
    Start(start::Args),
    /// Show where each run stands: the way it has gone, what is missing, what waits for a person, the tasks
    Status(status::Args),
    /// Have a run go on to its next phase, or to the phase named, done or not
    Advance(steer::Advance),
    /// Skip a phase: the present one, or one that is still to come
    Skip(steer::Skip),
    /// Show the tasks by wave, begin one anew, or skip one
    Tasks(tasks::Args),
    /// Draw the phases of a skill, the present one marked
    Graph(graph::Args),
    /// Print where a run stands as `active_task_graph.json`
    Export(export::Args),
}

/// Does it.
///
/// # Errors
///
/// It could not be done.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.command {
        Command::Start(args) => start::run(args, context),
        Command::Status(args) => status::run(args, context),
        Command::Advance(args) => steer::advance(args, context),
        Command::Skip(args) => steer::skip(args, context),
        Command::Tasks(args) => tasks::run(args, context),
        Command::Graph(args) => graph::run(args, context),
        Command::Export(args) => export::run(args, context),
    }
}
