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
pub mod scripted;
pub mod command;
pub mod cli;
#[cfg(unix)]
mod client_shell;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use phasegate_core::commands::slash_command;

use crate::cli::Cli;
use crate::command::clients::hook;
use crate::context::Context;
use crate::output::{Failure, Output};

/// Runs the program with these arguments, the program's own name first.
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
    let words: Vec<String> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => return told(&Cli::command().render_help().to_string()),
        ["help", "all"] => return told(&cli::all()),
        _ => {}
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && merged(&words).is_some() => {
            let failure = merged(&words).unwrap_or_else(|| misused(&error));
            Output { json }.failure(&failure);
            return failure.exit.into();
        }
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

/// Prints a text.
fn told(text: &str) -> ExitCode {
    Output { json: false }.line(text.trim_end());
    ExitCode::SUCCESS
}

/// What is written in place of a command that there was once.
fn merged(words: &[String]) -> Option<Failure> {
    let begin = words.iter().position(|word| !word.starts_with('-'))?;
    let words: Vec<&str> = words.get(begin..)?.iter().map(String::as_str).collect();
    let now = slash_command::merged(&words)?;
    let message = format!("`phasegate {}` is no command any more", words.join(" "));
    Some(Failure::new(message).with_help(format!("write `phasegate {now}`")))
}

/// What is wrong with the arguments, without the lines that tell a person how to go on.
fn misused(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let said = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    Failure::new(said.strip_prefix("error: ").unwrap_or(&said)).with_help("`phasegate help all` lists the commands")
}
