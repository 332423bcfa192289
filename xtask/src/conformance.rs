//! `cargo xtask conformance`: builds the binary the suite plays sessions through, then runs the suite.

use xtask::failure::Result;
use xtask::process::{build_programs, program, run as run_command};

/// Which part of the suite, passed on as given.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Arguments for the runner: `--adapter ID`, `--area A`, `--case GLOB`, `--format human|json`, `--bless`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs the suite; fails on any mismatch.
pub(crate) fn run(args: &Args) -> Result {
    build_programs()?;
    run_command(program("phasegate-conformance").arg("run").args(&args.rest))
}

/// Runs the suite with these arguments.
pub(crate) fn run_with(args: &[&str]) -> Result {
    run(&Args { rest: args.iter().map(ToString::to_string).collect() })
}
