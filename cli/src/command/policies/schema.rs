//! `phasegate schema [KIND]`.

use clap::ValueEnum;
use phasegate_schemas::Kind;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate schema`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the schema describes
    #[arg(default_value = "skill")]
    pub kind: KindArg,
}

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// A skill config
    Skill,
    /// A settings file, `.phasegate/config.yaml`
    Settings,
    /// A line of a neutral transcript
    Event,
}

/// Prints the schema.
///
/// # Errors
///
/// None.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let kind = match args.kind {
        KindArg::Skill => Kind::Skill,
        KindArg::Settings => Kind::Settings,
        KindArg::Event => Kind::Event,
    };
    context.out.line(kind.text().trim_end());
    Ok(Exit::Done)
}
