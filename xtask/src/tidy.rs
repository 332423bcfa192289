//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md as checks, one file each.

mod tree;
mod source;
mod arrows;
mod async_fence;
mod budget;
mod documents;
mod fault_reports;
mod forgotten;
mod limits;
mod machine_paths;
mod manifests;
mod named_paths;
mod platform_names;
mod purity;

use owo_colors::OwoColorize;

use crate::failure::{Failure, Result};
use tree::Tree;

/// A broken invariant, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// The file, from the workspace's root.
    path: String,
    /// The line, from 1; 0 for the file as a whole.
    line: usize,
    /// What is wrong.
    what: String,
    /// What to do about it.
    instead: &'static str,
}

/// A check's name, and the check: all it may look at is the tree.
type Check = (&'static str, fn(&Tree) -> Vec<Finding>);

const CHECKS: &[Check] = &[
    ("crate arrows", arrows::check),
    ("manifests", manifests::check),
    ("pure engine", purity::check),
    ("async fence", async_fence::check),
    ("platform names", platform_names::check),
    ("file budgets", budget::check),
    ("forgotten test files", forgotten::check),
    ("machine paths", machine_paths::check),
    ("documents", documents::check),
    ("named paths", named_paths::check),
    ("fault reports", fault_reports::check),
    ("limits told", limits::check),
];

/// Runs every check.
pub(crate) fn run() -> Result {
    let tree = Tree::load()?;
    let mut broken = 0_usize;
    for (name, check) in CHECKS {
        let findings = check(&tree);
        broken += findings.len();
        let word = if findings.is_empty() { "ok".green().to_string() } else { "FAILED".red().to_string() };
        anstream::println!("{name:<22} {word}");
        for finding in findings {
            let place = if finding.line == 0 { finding.path } else { format!("{}:{}", finding.path, finding.line) };
            anstream::println!("  {}: {}\n    {} {}", place.bold(), finding.what, "->".dimmed(), finding.instead);
        }
    }
    if broken == 0 { Ok(()) } else { Err(Failure::new(format!("{broken} invariants are broken"))) }
}
