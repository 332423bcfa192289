//! `cargo xtask ci`: every check, each with a heading and a time, and the sum at the end.

use std::time::{Duration, Instant};

use owo_colors::OwoColorize;

use crate::{cases, conformance, history, lab, mutants, packages, skips, tidy};
use xtask::failure::{Failure, Result};
use xtask::process::{build_tests_too, cargo, run as run_command};

/// A check's name, and how it is run.
type Step = (&'static str, fn() -> Result);

const STEPS: &[Step] = &[
    ("format", || run_command(&mut cargo(&["fmt", "--all", "--check"]))),
    ("lints", || {
        run_command(&mut cargo(&[
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--keep-going",
            "--",
            "--deny",
            "warnings",
        ]))
    }),
    ("generated files", || lab::run_with("gen", &["--check"])),
    ("tidy", || tidy::run(&tidy::Args::default())),
    ("tests", || run_command(&mut cargo(&["test", "--workspace", "--no-fail-fast"]))),
    ("skipped tests", skips::run),
    ("conformance", || conformance::run(&conformance::Args::default())),
    ("cases", || cases::run(&cases::Args::kept())),
    ("fault reports", || lab::run_with("reports", &[])),
    ("plugins", || lab::run_with("shims", &[])),
    ("official MCP suite", || lab::run_with("mcp-conformance", &[])),
    ("MCP clients", || lab::run_with("mcp-clients", &[])),
    ("shell oracle", || {
        // Its sandbox is made of namespaces.
        if cfg!(target_os = "linux") { lab::run_with("shell-oracle", &["--short"]) } else { Ok(()) }
    }),
    ("history oracle", || history::run(&history::Args::default())),
    ("mutants", mutants::run),
    ("packages", || packages::run(&packages::Args::default())),
];

/// Runs every step, also after one has failed.
pub(crate) fn run() -> Result {
    build_tests_too();
    let mut results = Vec::new();
    for (name, step) in STEPS {
        anstream::println!("\n{} {}", "==>".cyan().bold(), name.bold());
        let begin = Instant::now();
        let result = step();
        if let Err(failure) = &result {
            anstream::println!("{} {failure}", "failed:".red().bold());
        }
        results.push((*name, result.is_ok(), begin.elapsed()));
    }
    summary(&results)
}

fn summary(results: &[(&str, bool, Duration)]) -> Result {
    anstream::println!();
    for (name, passed, time) in results {
        let word = if *passed { "ok".green().to_string() } else { "FAILED".red().to_string() };
        anstream::println!("{name:<20} {:>6.1} s  {word}", time.as_secs_f64());
    }
    let failed = results.iter().filter(|(_, passed, _)| !passed).count();
    anstream::println!("ci: {} passed, {failed} failed", results.len() - failed);
    if failed == 0 { Ok(()) } else { Err(Failure::new(format!("{failed} of {} checks failed", results.len()))) }
}
