//! What is known of programs, and how far the repository is trusted.

use phasegate_config::compile;
use phasegate_shell::{Table, Trust};

use crate::context::Context;

/// How far repositories are trusted.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct TrustArgs {
    /// Take no command for read-only that obeys files of the checkout, such as `git status` or `cargo metadata`
    #[arg(long)]
    pub distrust_repository: bool,
    /// Judge the line as one that zsh runs: what zsh reads otherwise than bash is unknown
    #[arg(long)]
    pub zsh: bool,
}

/// What is known of programs and how far the repository is trusted: by the arguments and the settings that apply here.
/// Where no settings can be found, the shipped table holds.
pub(super) fn knowledge(args: TrustArgs, context: &Context) -> (Table, Trust) {
    let found = context.runtime().and_then(|runtime| Ok(runtime.discover(&context.find_project(&runtime)?)));
    let Ok(found) = found else {
        return (Table::shipped(), Trust { repository: !args.distrust_repository, zsh: args.zsh, ..Trust::default() });
    };
    let settings = compile(&found.files).settings;
    let table = if settings.programs.is_empty() { Table::shipped() } else { Table::with(settings.programs) };
    (
        table,
        Trust { repository: settings.trust_repository && !args.distrust_repository, zsh: args.zsh, ..Trust::default() },
    )
}
