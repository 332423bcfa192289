//! Tasks that need the project's own crates: they live in `lab`, so that the other tasks build without them.

use std::ffi::OsString;

use xtask::failure::Result;
use xtask::process::{build_programs, program, run as run_command};

/// Arguments that are handed on as they are.
#[derive(clap::Args, Default)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Arguments of the task; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    rest: Vec<OsString>,
}

/// Runs a task of the laboratory.
pub(crate) fn run(task: &str, args: &Args) -> Result {
    build_programs()?;
    run_command(program("phasegate-lab").arg(task).args(&args.rest))
}

/// Runs a task of the laboratory with these arguments.
pub(crate) fn run_with(task: &str, args: &[&str]) -> Result {
    run(task, &Args { rest: args.iter().map(OsString::from).collect() })
}
