//! The `phasegate` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // `phasegate confine` starts this program anew, to enter a level.
    if let Some(exit) = phasegate_confine::stage() {
        return exit;
    }
    phasegate::run(std::env::args_os().collect())
}
