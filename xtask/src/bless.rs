//! `cargo xtask bless`: the present output becomes the expected one. Read the diff before committing it.

use crate::lab;
use xtask::failure::Result;
use xtask::process::{cargo, run as run_command};

/// Runs the golden tests so that they write, then everything that is generated.
pub(crate) fn run() -> Result {
    run_command(cargo(&["test", "--workspace", "--no-fail-fast"]).env("PHASEGATE_BLESS", "1"))?;
    lab::run_with("gen", &[])?;
    anstream::println!("expectations accepted; `git diff` shows what changed");
    Ok(())
}
