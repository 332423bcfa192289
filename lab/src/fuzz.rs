//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/`, each for a while, from corpora made of the cases.
//!
//! libFuzzer comes with its crate and the coverage with the compiler, so that the toolchain of the workspace is enough.

mod corpus;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use owo_colors::OwoColorize;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, run as run_command};
use xtask::root::{root, target};

/// Which targets, and how long.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Targets by name (`fuzz/targets/NAME.rs`); without any, all.
    targets: Vec<String>,
    /// How long each runs, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of the random numbers; without it another one each time.
    #[arg(long)]
    seed: Option<u32>,
    /// Only run the inputs that are kept as cases, each once.
    #[arg(long)]
    cases: bool,
}

/// What makes the compiler count which edges of the code an input reaches.
const COVERAGE: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Builds the targets and runs each; fails on a find.
pub(crate) fn run(args: &Args) -> Result {
    let known = targets()?;
    if let Some(odd) = args.targets.iter().find(|name| !known.contains(name)) {
        return Err(Failure::new(format!("there is no fuzz target `{odd}`; there are: {}", known.join(", "))));
    }
    let triple = build()?;
    let binaries = target().join("fuzz").join(triple).join("release");
    let wanted = known.iter().filter(|name| args.targets.is_empty() || args.targets.contains(name));
    let mut failed = Vec::new();
    for name in wanted {
        if !one(name, &binaries.join(name), args)? {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(format!("finds in: {}", failed.join(", ")))) }
}

fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/targets");
    let listed = std::fs::read_dir(&folder).map_err(|error| Failure::file(&folder, error))?;
    let mut names: Vec<String> =
        listed.flatten().filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

/// Builds every target; returns the triple it was built for. Build scripts are not instrumented: a target is named.
fn build() -> Result<String> {
    let described = xtask::process::output(Command::new("rustc").arg("-vV"))?;
    let triple = described.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_string();
    let mut command = cargo(&["build", "--quiet", "--release", "--bins", "--target", &triple]);
    command.current_dir(root().join("fuzz")).env("CARGO_TARGET_DIR", target().join("fuzz"));
    command.env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"));
    run_command(&mut command)?;
    Ok(triple)
}

/// Runs one target; whether it found nothing.
fn one(name: &str, binary: &Path, args: &Args) -> Result<bool> {
    let cases = root().join("fuzz/cases").join(name);
    let work = target().join("fuzz/work").join(name);
    let (seeds, finds) = (work.join("seeds"), work.join("finds"));
    corpus::make(name, &seeds)?;
    for folder in [&cases, &finds, &work.join("corpus")] {
        std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    }
    let mut command = Command::new(binary);
    command.current_dir(&work).stdin(Stdio::null()).stdout(Stdio::null());
    let log = work.join("log.txt");
    command.stderr(std::fs::File::create(&log).map_err(|error| Failure::file(&log, error))?);
    command.args(["-print_final_stats=1", "-timeout=10", "-rss_limit_mb=1024"]);
    command.arg(format!("-artifact_prefix={}/", finds.display()));
    if args.cases {
        command.arg("-runs=0").arg(&cases);
    } else {
        command.arg(format!("-max_total_time={}", args.seconds)).args(args.seed.map(|seed| format!("-seed={seed}")));
        command.arg("-max_len=16384").args([work.join("corpus"), seeds, cases]);
    }
    let status = show(name, &mut command, args)?;
    report(name, status, &log, &finds)
}

/// Waits for the target behind a bar; whether it ended well.
fn show(name: &str, command: &mut Command, args: &Args) -> Result<bool> {
    let failed = |error: std::io::Error| Failure::new(format!("fuzz target `{name}`: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let bar = indicatif::ProgressBar::new(args.seconds);
    let style = indicatif::ProgressStyle::with_template("{msg:<10} {wide_bar} {pos:>4}/{len} s");
    bar.set_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()));
    bar.set_message(name.to_string());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        bar.set_position(began.elapsed().as_secs());
        std::thread::sleep(Duration::from_millis(200));
    };
    bar.finish_and_clear();
    Ok(status.success())
}

/// Says what came of it.
fn report(name: &str, well: bool, log: &Path, finds: &Path) -> Result<bool> {
    // A find may hold any bytes, and the log shows them.
    let text = std::fs::read(log).map_err(|error| Failure::file(log, error))?;
    let text = String::from_utf8_lossy(&text);
    let number = |key: &str| {
        let line = text.lines().rev().find_map(|line| line.strip_prefix(&format!("stat::{key}:")));
        line.map_or_else(|| "?".to_string(), |rest| rest.trim().to_string())
    };
    let (runs, speed) = (number("number_of_executed_units"), number("average_exec_per_sec"));
    if well {
        anstream::println!("{} {name}: {runs} inputs, {speed} a second", "nothing found".green().bold());
        return Ok(true);
    }
    let shown: Vec<&str> =
        text.lines().filter(|line| line.contains("panicked at") || line.contains("ERROR:")).collect();
    anstream::println!("{} {name}: {}\n  {}", "found".red().bold(), newest(finds).display(), shown.join("\n  "));
    let says = text.lines().skip_while(|line| !line.contains("panicked at")).nth(1).unwrap_or_default();
    anstream::println!(
        "  {says}\n  when it is mended, keep the input in `fuzz/cases/{name}/`; the log is {}",
        log.display()
    );
    Ok(false)
}

fn newest(folder: &Path) -> PathBuf {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let times = listed.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    times.max().map_or_else(|| folder.to_path_buf(), |(_, path)| path)
}
