//! `cargo xtask check`: what a change forgets most, before each commit. Each finding names what mends it.

use std::path::Path;
use std::time::Instant;

use owo_colors::OwoColorize;

use crate::bless::golden_tests;
use crate::ci::clippy;
use crate::passed::Passed;
use crate::slow::SLOW;
use crate::{conformance, lab, tidy};
use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output, run as run_command};
use xtask::root::root;

/// What is checked, and whether it is mended.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Mend what only follows a change: the format, and the files that are made from the code.
    #[arg(long)]
    fix: bool,
    /// The lints of the crates that changed since this commit; without it since the branch that is followed, or since
    /// the last commit.
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
}

/// A check, and the command that mends what it finds.
struct Step {
    name: &'static str,
    run: fn(&Args) -> Result,
    mend: &'static str,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: format, mend: "cargo fmt --all" },
    Step { name: "tidy", run: |_| tidy::run(&tidy::Args::default()), mend: "each finding says how" },
    Step { name: "slow checks", run: slow, mend: "cargo xtask ci --only NAME, then commit xtask/passed.toml" },
    Step { name: "generated files", run: generated, mend: "cargo xtask gen" },
    Step { name: "fault reports", run: |_| lab::run_with("reports", &[]), mend: "each finding says how" },
    Step { name: "expected texts", run: texts, mend: "cargo xtask bless, then read the difference" },
    Step { name: "expected outputs", run: outputs, mend: "cargo xtask bless, then read the difference" },
    Step { name: "lints", run: lints, mend: "each finding says how" },
];

/// Runs every check, also after one has failed.
pub(crate) fn run(args: &Args) -> Result {
    let begin = Instant::now();
    let mut rows = Vec::new();
    for step in STEPS {
        let begin = Instant::now();
        let result = (step.run)(args);
        let seconds = begin.elapsed().as_secs_f64();
        let word = if result.is_ok() { "ok".green().to_string() } else { "FAILED".red().to_string() };
        rows.push(format!("{:<18} {seconds:>5.1} s  {word}", step.name));
        if let Err(failure) = result {
            anstream::println!("{} {failure}", "failed:".red().bold());
            rows.push(format!("  {} {}", "->".dimmed(), step.mend));
        }
    }
    let failed = rows.len() - STEPS.len();
    anstream::println!("\n{}", rows.join("\n"));
    anstream::println!(
        "check: {} passed, {failed} failed, {:.1} s",
        STEPS.len() - failed,
        begin.elapsed().as_secs_f64()
    );
    if failed == 0 { Ok(()) } else { Err(Failure::new(format!("{failed} of {} checks failed", STEPS.len()))) }
}

fn format(args: &Args) -> Result {
    run_command(&mut cargo(if args.fix { &["fmt", "--all"] } else { &["fmt", "--all", "--check"] }))
}

/// Checks that run only when their folders changed, and have not run since.
fn slow(_: &Args) -> Result {
    let passed = Passed::read()?;
    let mut stale = Vec::new();
    for step in SLOW {
        stale.extend(passed.stale(step)?.then_some(step.name));
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("did not run since they changed: {}", stale.join(", "))))
    }
}

fn generated(args: &Args) -> Result {
    lab::run_with("gen", if args.fix { &[] } else { &["--check"] })
}

/// What the suite sees without playing every session: its files, frames and replies, and each kept text once.
fn texts(_: &Args) -> Result {
    conformance::run_with(&["--quick", "--format", "brief"])
}

/// The tests that compare what commands print, by their names.
fn outputs(_: &Args) -> Result {
    golden_tests(&[])
}

fn lints(args: &Args) -> Result {
    let packages = changed(args)?;
    if packages.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = packages.iter().flat_map(|name| ["-p", name.as_str()]).collect();
    run_command(&mut clippy(&names))
}

/// The packages with a file that changed.
fn changed(args: &Args) -> Result<Vec<String>> {
    let git = |words: &[&str]| output(std::process::Command::new("git").args(words).current_dir(root()));
    let since = match &args.since {
        Some(commit) => commit.clone(),
        None => git(&["merge-base", "HEAD", "@{upstream}"]).unwrap_or_else(|_| "HEAD".into()).trim().to_owned(),
    };
    let files = git(&["diff", "--name-only", &since])? + &git(&["ls-files", "--others", "--exclude-standard"])?;
    let files: Vec<&Path> = files.lines().map(Path::new).collect();
    let packages = tidy::packages()?;
    // The deepest folder that holds a file is its package's.
    let holds = |file: &Path| {
        let all = packages.iter().filter(|member| file.starts_with(&member.folder));
        all.max_by_key(|member| member.folder.components().count()).map(|member| member.name.clone())
    };
    let mut names: Vec<String> = files.iter().filter_map(|file| holds(file)).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
