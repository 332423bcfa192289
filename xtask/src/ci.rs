//! `cargo xtask ci`: every check, each with a heading and a time, and the sum at the end.
//!
//! What needs other people's programs, or minutes, runs when its own folders changed since it last passed, and with
//! `--full`. When that was is kept in `xtask/passed.toml`. Where `CI` is set, such a check does not run: it fails if that file
//! is older than its folders.

use std::time::{Duration, Instant};

use owo_colors::OwoColorize;

use crate::passed::{self, Passed};
use crate::slow::SLOW;
use crate::{cases, conformance, demands, lab, skips, tidy};
use xtask::failure::{Failure, Result};
use xtask::process::{InMemory, cargo, lint_builds, run as run_command};

/// Which checks are run.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Run also what did not change since it last passed, in its long form where it has one.
    #[arg(long, conflicts_with = "only")]
    full: bool,
    /// Run the check of this name alone; may be given again.
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// List the checks, and when those last passed that run only if their folders changed.
    #[arg(long)]
    list: bool,
}

/// A check that always runs.
struct Step {
    name: &'static str,
    run: fn() -> Result,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: format },
    Step { name: "tidy", run: || tidy::run(&tidy::Args::default()) },
    Step { name: "lints and build", run: build },
    Step { name: "generated files", run: || lab::run_with("gen", &["--check"]) },
    Step { name: "fault reports", run: || lab::run_with("reports", &[]) },
    Step { name: "tests", run: || run_command(&mut cargo(&["test", "--workspace", "--no-fail-fast"])) },
    Step { name: "skipped tests", run: skips::run },
    Step { name: "conformance", run: || conformance::run(&conformance::Args::default()) },
    Step { name: "seeds", run: || demands::run(&demands::Args::default()) },
    Step { name: "cases", run: || cases::run(&cases::Args::kept()) },
];

/// Compares the format of every file.
fn format() -> Result {
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
}

/// Builds every target, and lints it on the way: what is compiled once serves all later steps. If a lint finds something,
/// these build without lints.
fn build() -> Result {
    lint_builds(true);
    let built = run_command(&mut cargo(&["test", "--quiet", "--workspace", "--all-targets", "--no-run"]));
    lint_builds(built.is_ok());
    built
}

/// The lints of these packages, each warning an error.
pub(crate) fn clippy(packages: &[&str]) -> std::process::Command {
    let mut command = cargo(&["clippy", "--quiet"]);
    command.args(packages).args(["--all-targets", "--keep-going", "--", "--deny", "warnings"]);
    command
}

/// How a check came out.
enum End {
    Passed,
    Failed,
    /// It did not run: nothing of its folders changed since it passed, which was then.
    Unchanged(String),
    /// It did not run, and its folders changed since it passed, which was then.
    Late(String),
}

/// A check's name, how it came out, and how long it took.
struct Row {
    name: &'static str,
    end: End,
    time: Duration,
}

/// Runs every step, also after one has failed.
pub(crate) fn run(args: &Args) -> Result {
    let mut passed = Passed::read()?;
    if args.list {
        return list(&passed);
    }
    let known = || STEPS.iter().map(|step| step.name).chain(SLOW.iter().map(|step| step.name));
    if let Some(name) = args.only.iter().find(|name| !known().any(|one| one == name.as_str())) {
        let names: Vec<&str> = known().collect();
        return Err(Failure::new(format!("there is no check `{name}`; there are: {}", names.join(", "))));
    }
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut rows = Vec::new();
    let memory = InMemory::start();
    for step in STEPS.iter().filter(|step| wanted(step.name)) {
        rows.push(timed(step.name, step.run));
    }
    drop(memory);
    let asked = args.full || !args.only.is_empty();
    let only_looks = std::env::var_os("CI").is_some() && !asked;
    for step in SLOW.iter().filter(|step| wanted(step.name)) {
        let stale = passed.stale(step)?;
        let since = passed.since(step.name);
        if !asked && (only_looks || !stale) {
            let end = if stale { End::Late(since) } else { End::Unchanged(since) };
            rows.push(Row { name: step.name, end, time: Duration::ZERO });
            continue;
        }
        let row = timed(step.name, || (step.run)(args.full));
        if matches!(row.end, End::Passed) {
            passed.renew(step, row.time)?;
            passed.write()?;
        }
        rows.push(row);
    }
    summary(&rows)
}

fn timed(name: &'static str, run: impl FnOnce() -> Result) -> Row {
    anstream::println!("\n{} {}", "==>".cyan().bold(), name.bold());
    let begin = Instant::now();
    let result = run();
    if let Err(failure) = &result {
        anstream::println!("{} {failure}", "failed:".red().bold());
    }
    Row { name, end: if result.is_ok() { End::Passed } else { End::Failed }, time: begin.elapsed() }
}

fn list(passed: &Passed) -> Result {
    for step in STEPS {
        anstream::println!("{:<20} always", step.name);
    }
    for step in SLOW {
        let state = if passed.stale(step)? { "changed since it passed" } else { "unchanged since it passed" };
        anstream::println!("{:<20} {state} {}", step.name, passed.since(step.name));
    }
    Ok(())
}

fn summary(rows: &[Row]) -> Result {
    anstream::println!();
    for Row { name, end, time } in rows {
        let word = match end {
            End::Passed => "ok".green().to_string(),
            End::Failed => "FAILED".red().to_string(),
            End::Unchanged(since) => format!("unchanged since {since}").dimmed().to_string(),
            End::Late(since) => {
                let mend = format!("run `cargo xtask ci --only \"{name}\"` and commit `{}`", passed::FILE);
                format!("{}: its folders changed since {since}; {mend}", "LATE".red())
            }
        };
        anstream::println!("{name:<20} {:>6.1} s  {word}", time.as_secs_f64());
    }
    let count = |wanted: fn(&End) -> bool| rows.iter().filter(|row| wanted(&row.end)).count();
    let failed = count(|end| matches!(end, End::Failed));
    let late = count(|end| matches!(end, End::Late(_)));
    let (ok, unchanged) = (count(|end| matches!(end, End::Passed)), count(|end| matches!(end, End::Unchanged(_))));
    let whole: Duration = rows.iter().map(|row| row.time).sum();
    anstream::println!(
        "ci: {ok} passed, {failed} failed, {late} late, {unchanged} unchanged, {:.1} s",
        whole.as_secs_f64()
    );
    match (failed, late) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::new(format!("`{}` is older than what {late} checks are about", passed::FILE))),
        _ => Err(Failure::new(format!("{failed} of {} checks failed", rows.len()))),
    }
}
