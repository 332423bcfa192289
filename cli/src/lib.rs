//! The command line of phasegate: thin, one file for each subcommand.

pub mod exit;
pub mod logging;
pub mod output;
mod progress;
mod diff;
pub mod context;
pub mod args;
mod confining;
mod shell_probe;
pub mod command;
pub mod cli;
#[cfg(unix)]
mod client_shell;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::cli::Cli;
use crate::command::hook;
use crate::context::Context;
use crate::output::{Failure, Output};

/// Runs the program with these arguments, the program's own name first.
#[must_use]
pub fn run(args: Vec<OsString>) -> ExitCode {
    #[cfg(unix)]
    if let Some(args) = client_shell::asked(&args) {
        return client_shell::run(args);
    }
    // A hook is answered before any argument is checked: an argument that is not understood must not open the guard.
    if let Some(platform) = hook::platform(&args) {
        return hook::run(&platform, hook::audit_log(&args), hook::confirms(&args));
    }
    let json = args.iter().any(|arg| arg == "--json");
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if json && error.use_stderr() => {
            let failure = misused(&error);
            Output { json }.failure(&failure);
            return failure.exit.into();
        }
        Err(error) => error.exit(),
    };
    logging::start(logging::Quiet::No);
    cli.color.apply();
    let context = Context { out: Output { json: cli.json }, project: cli.project, grammar: Cli::command };
    match cli.command.run(&context) {
        Ok(exit) => exit,
        Err(failure) => {
            context.out.failure(&failure);
            failure.exit.into()
        }
    }
}

/// What is wrong with the arguments, without the lines that tell a person how to go on.
fn misused(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let said = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    Failure::new(said.strip_prefix("error: ").unwrap_or(&said)).with_help("`phasegate --help` lists the commands")
}
