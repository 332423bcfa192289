//! `phasegate shell`: what a shell line would do, before it runs.

mod explain;
mod judge;

use phasegate_config::compile;
use phasegate_shell::{Table, Trust};

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

/// How far repositories are trusted.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TrustArgs {
    /// Treat `git status` and similar commands as read-only only in a form that runs no program from the repository's
    /// configuration
    #[arg(long)]
    pub distrust_repository: bool,
}

/// What is known of programs and how far the repository is trusted: by the arguments and the settings that apply here.
/// Where no settings can be found, the shipped table holds.
fn knowledge(args: TrustArgs, context: &Context) -> (Table, Trust) {
    let found = context.runtime().and_then(|runtime| Ok(runtime.discover(&context.find_project(&runtime)?)));
    let Ok(found) = found else { return (Table::shipped(), Trust { repository: !args.distrust_repository }) };
    let settings = compile(&found.files).settings;
    let table = if settings.programs.is_empty() { Table::shipped() } else { Table::with(settings.programs) };
    (table, Trust { repository: settings.trust_repository && !args.distrust_repository })
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
