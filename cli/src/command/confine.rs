//! `phasegate confine`: a command, held by the kernel.

mod probe;
mod protect;
mod read_only;
mod request;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use phasegate_confine::{Error, Level};
use serde_json::json;

use crate::context::Context;
use crate::exit::{NO_PROGRAM, NO_PROGRAM_TO_START, NOT_CONFINED};
use crate::output::Failure;

/// The arguments of `phasegate confine`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to hold the command.
    #[command(subcommand)]
    pub part: Part,
}

/// How to hold the command.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    /// Run a command that keeps no change: say on standard error what is not kept, and end with the command's own
    /// status, or with 73 where that is 0 and something is not kept
    ReadOnly(read_only::Args),
    /// Run a command that cannot change certain folders
    Protect(protect::Args),
    /// Try each level, and say which of them work here
    Probe(probe::Args),
}

/// The command of a person, behind `--`.
#[derive(Debug, clap::Args)]
pub struct Line {
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Runs the command. Every failure ends with 125, and then the command has not run.
#[must_use]
pub fn run(args: Args, context: &Context) -> ExitCode {
    let ended = match &args.part {
        Part::ReadOnly(args) => read_only::run(args, context),
        Part::Protect(args) => protect::run(args, context),
        Part::Probe(args) => probe::run(args, context),
    };
    ExitCode::from(ended.unwrap_or_else(|failure| {
        context.out.failure(&failure);
        NOT_CONFINED
    }))
}

/// The exit status of a command that was not run, after saying why.
fn not_run(error: &Error, level: Level, context: &Context) -> u8 {
    let help = match error {
        Error::Start { .. } => "give a program that exists, as a shell would find it".to_owned(),
        _ => {
            format!("the level `{level}` does not hold here; `phasegate confine probe` tries each, and nothing has run")
        }
    };
    context.out.failure(&Failure::new(error.to_string()).with_help(help));
    match error {
        Error::Start { cause, .. } if cause.kind() == ErrorKind::NotFound => NO_PROGRAM,
        Error::Start { .. } => NO_PROGRAM_TO_START,
        _ => NOT_CONFINED,
    }
}

/// A level that was tried, as JSON.
fn as_json(probed: &phasegate_confine::Probed) -> serde_json::Value {
    json!({"level": probed.level, "works": probed.refused.is_none(), "refused": probed.refused})
}
