//! `cargo xtask reports`: the kept fault reports fit the adapters and scenarios as they are, and the adapters report what
//! the fault reports show.

mod finding;
mod stale;
mod untold;

use owo_colors::OwoColorize;

use xtask::failure::{Failure, Result};

/// Checks the kept reports.
pub(crate) fn run() -> Result {
    let mut findings = stale::check();
    findings.extend(untold::check());
    for finding in &findings {
        anstream::println!("  {}: {}\n    {} {}", finding.path.bold(), finding.what, "->".dimmed(), finding.instead);
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("{count} faults in the fault reports"))),
    }
}
