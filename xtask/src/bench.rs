//! `cargo xtask bench`: numbers, no verdict. Raw samples go to `target/bench/`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::{Failure, Result};
use crate::process::{cargo, output, run as run_command};
use crate::root::{root, target, write};

/// What is measured.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many pairs of processes are timed.
    #[arg(long, default_value_t = 200)]
    pairs: usize,
}

/// Measures one decision in process, then one hook as a process beside a process that does nothing.
pub(crate) fn run(args: &Args) -> Result {
    run_command(&mut cargo(&["bench", "--package", "phasegate-core", "--bench", "decide"]))?;
    let nothing = build_nothing()?;
    run_command(&mut cargo(&["build", "--quiet", "--release", "--package", "phasegate"]))?;
    let hook = Hook::prepare()?;
    let (mut base, mut full) = (Vec::new(), Vec::new());
    for at in 0..args.pairs {
        // The order alternates, so that neither side always runs on a warm cache.
        if at % 2 == 0 {
            base.push(timed(Command::new(&nothing), &hook.frame)?);
            full.push(timed(hook.command(), &hook.frame)?);
        } else {
            full.push(timed(hook.command(), &hook.frame)?);
            base.push(timed(Command::new(&nothing), &hook.frame)?);
        }
    }
    let raw = serde_json::json!({"unit": "microseconds", "nothing": base, "hook": full});
    write(&target().join("bench/hook.json"), &format!("{raw:#}\n"))?;
    anstream::println!("\n{:<34} {:>9} {:>9} {:>9}", "whole process, microseconds", "p50", "p90", "p99");
    row("a process that reads and prints", &base);
    row("phasegate hook, one guarded call", &full);
    let mut more: Vec<u64> = full.iter().zip(&base).map(|(full, base)| full.saturating_sub(*base)).collect();
    more.sort_unstable();
    row("the difference, pair by pair", &more);
    Ok(())
}

fn row(name: &str, samples: &[u64]) {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let at = |share: usize| sorted.get(sorted.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    anstream::println!("{name:<34} {:>9} {:>9} {:>9}", at(50), at(90), at(99));
}

fn build_nothing() -> Result<PathBuf> {
    let binary = target().join("bench/nothing");
    std::fs::create_dir_all(target().join("bench")).map_err(|error| Failure::file(&target(), error))?;
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-O", "-o"]).arg(&binary).arg(root().join("xtask/bench/nothing.rs"));
    run_command(&mut rustc)?;
    Ok(binary)
}

/// Runs the program on the frame, in microseconds from start to end.
fn timed(mut command: Command, frame: &str) -> Result<u64> {
    let failed = |error: std::io::Error| Failure::new(format!("bench: {error}"));
    let begin = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(frame.as_bytes()).map_err(failed)?;
    }
    child.wait().map_err(failed)?;
    Ok(u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX))
}

/// A guarded project and a call in it.
struct Hook {
    adapter: String,
    folder: PathBuf,
    frame: String,
}

impl Hook {
    /// The runner sets up the project of a recorded session and says which frame is a call.
    fn prepare() -> Result<Self> {
        let folder = target().join("bench/session");
        let shown = folder.to_string_lossy().into_owned();
        let mut command = cargo(&["run", "--quiet", "--package", "phasegate-conformance", "--", "stage", &shown]);
        let staged = output(&mut command)?;
        let staged: serde_json::Value =
            serde_json::from_str(&staged).map_err(|error| Failure::new(format!("stage: {error}")))?;
        let text = |key: &str| staged.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_string();
        Ok(Self { adapter: text("adapter"), frame: text("frame"), folder })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(target().join("release/phasegate"));
        command.args(["hook", &self.adapter]).current_dir(self.project());
        command.env_clear().env("HOME", self.folder.join("home"));
        command.env("PHASEGATE_STATE_DIR", self.folder.join("state"));
        command.env("PHASEGATE_MACHINE_DIR", self.folder.join("machine"));
        command
    }

    fn project(&self) -> PathBuf {
        Path::new(&self.folder).join("project")
    }
}
