//! The command line of phasegate: thin, one file for each subcommand.

pub mod args;
pub mod command;
pub mod context;
pub mod exit;
pub mod logging;
pub mod output;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Cli;
use crate::command::hook;
use crate::context::Context;

/// Runs the program with these arguments, the program's own name first.
#[must_use]
pub fn run(args: Vec<OsString>) -> ExitCode {
    // A hook is answered before any argument is checked: an argument that is not understood must not open the guard.
    if let Some(platform) = hook::platform(&args) {
        return hook::run(&platform, hook::audit_log(&args), hook::confirms(&args));
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    logging::start(logging::Quiet::No);
    cli.color.apply();
    let context = Context::new(&cli);
    match cli.command.run(&context) {
        Ok(exit) => exit,
        Err(failure) => {
            context.out.failure(&failure);
            failure.exit.into()
        }
    }
}
