//! `cargo xtask stress`: many hooks at once on one session, some of them killed.
//!
//! The work is a test of the program (`cli/tests/it/stress.rs`), which CI runs with fewer processes and events.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, run as run_command};
use xtask::root::{read, target};

/// The test that does the work.
const TEST: &str = "stress::";
/// How often is looked how far the test is.
const LOOK: Duration = Duration::from_millis(200);

/// How much.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many processes at once
    #[arg(long, default_value_t = 64)]
    processes: u64,
    /// How many events in all
    #[arg(long, default_value_t = 10_000)]
    events: u64,
    /// What the lots are drawn from: the same seed, the same events and kills
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Build with optimisations
    #[arg(long)]
    release: bool,
}

/// Runs the test and prints its figures.
pub(crate) fn run(args: &Args) -> Result {
    let mut build = vec!["test", "--quiet", "--package", "phasegate", "--test", "it"];
    build.extend(args.release.then_some("--release"));
    run_command(cargo(&build).arg("--no-run"))?;
    let folder = target().join("stress");
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let (progress, figures) = (folder.join("progress"), folder.join("figures.json"));
    for old in [&progress, &figures] {
        let _ = std::fs::remove_file(old);
    }
    let mut command = cargo(&build);
    command.arg(TEST).env("PHASEGATE_STRESS_PROGRESS", &progress).env("PHASEGATE_STRESS_FIGURES", &figures);
    for (name, value) in [("PROCESSES", args.processes), ("EVENTS", args.events), ("SEED", args.seed)] {
        command.env(format!("PHASEGATE_STRESS_{name}"), value.to_string());
    }
    let failed = |error| Failure::new(format!("cargo: {error}"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    watch(child, args.events, &progress)?;
    print(&figures)
}

/// Shows how far the test is until it ends.
fn watch(mut child: Child, events: u64, progress: &Path) -> Result {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} events, {elapsed} {msg}");
    let bar = ProgressBar::new(events).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let began = Instant::now();
    while child.try_wait().map_err(|error| Failure::new(error.to_string()))?.is_none() {
        let so_far = std::fs::read_to_string(progress).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        bar.set_position(so_far);
        if so_far + 64 > events {
            bar.set_message("checking");
        }
        std::thread::sleep(LOOK);
    }
    bar.finish_and_clear();
    let output = child.wait_with_output().map_err(|error| Failure::new(error.to_string()))?;
    if output.status.success() {
        anstream::println!("{} in {:.1} s", "passed".green().bold(), began.elapsed().as_secs_f64());
        return Ok(());
    }
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(Failure::new(format!("the journal is not what it must be\n{out}{err}")))
}

fn print(path: &Path) -> Result {
    let figures: BTreeMap<String, u64> =
        serde_json::from_str(&read(path)?).map_err(|error| Failure::file(path, error))?;
    for (name, value) in figures {
        anstream::println!("{value:>12}  {name}");
    }
    Ok(())
}
