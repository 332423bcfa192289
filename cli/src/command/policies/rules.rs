//! `phasegate rules`: rules over calls.

mod check;
mod explain;
mod import;
mod packs;
mod schema;
mod test;
mod why;

use clap::Subcommand;
use phasegate_config::Pack;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find errors in the rules of the project
    Check(check::Args),
    /// Play the transcripts in `.phasegate/tests`, and name the rules that none of them shows
    Test(test::Args),
    /// Print what rules can read, in Cedar's language
    Schema(schema::Args),
    /// List the packs of rules that ship with phasegate, or print one
    Packs(packs::Args),
    /// List the rules of the project, or print one
    Explain(explain::Args),
    /// Make rules of the permissions that the clients' settings give
    Import(import::Args),
    /// Show which rules are about a call, and what they see of it
    Why(why::Args),
}

/// The pack of rules of this name.
pub(crate) fn find_pack(name: &str) -> Result<&'static Pack, Failure> {
    packs::find(name)
}

/// Does it.
///
/// # Errors
///
/// It could not be done.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args, context),
        Command::Test(args) => test::run(args, context),
        Command::Schema(args) => schema::run(args, context),
        Command::Packs(args) => packs::run(args, context),
        Command::Explain(args) => explain::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Why(args) => why::run(args, context),
    }
}
