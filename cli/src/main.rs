//! The `phasegate` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    phasegate::run(std::env::args_os().collect())
}
