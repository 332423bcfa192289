//! `cargo xtask approvals PATH`: of the calls in recordings of a client, how many `approve: reads` answers with *allow*, so
//! that the client need not ask its user about them.
//!
//! The recordings are JSON lines of hook frames, as the client sent them. Each frame goes through a hook process of its own,
//! in a scratch project that has nothing but `approve: reads`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::{read, target, write};

use crate::record::drivers::FIRST;
use crate::record::scratch::Scratch;

/// The folder under which recordings have their paths.
const RECORDED: &str = "/workspace/";
/// The tools about which a client asks nobody in its project, whatever its user allowed.
const UNASKED: [&str; 6] = ["Read", "Grep", "Glob", "LS", "TodoWrite", "Skill"];

/// Which recordings.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of frames, and folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The client, by the id of its adapter.
    #[arg(long, default_value = FIRST)]
    client: String,
    /// The phasegate binary; without it the one that cargo builds now.
    #[arg(long)]
    guard: Option<PathBuf>,
}

/// What came of the calls of one tool.
#[derive(Default)]
struct Count {
    calls: usize,
    approved: usize,
    denied: usize,
}

/// Counts, and prints a line for each tool.
pub(crate) fn run(args: &Args) -> Result {
    let guard = match &args.guard {
        Some(guard) => guard.clone(),
        None => {
            build_programs()?;
            target().join("debug/phasegate")
        }
    };
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let files = files(&args.paths)?;
    for file in &files {
        let scratch = Scratch::new("approvals")?;
        write(&scratch.path("project/.phasegate/config.yaml"), "approve: reads\n")?;
        let text = read(file)?.replace(RECORDED, &format!("{}/", scratch.base.display()));
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            count(&mut counts, line, || answer(&scratch, &guard, &args.client, line))?;
        }
        scratch.remove()?;
    }
    print(&counts, files.len());
    Ok(())
}

/// The files of frames among these paths.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if !path.exists() {
            return Err(Failure::file(path, "there is nothing"));
        }
        let entries = walkdir::WalkDir::new(path).sort_by_file_name().into_iter().flatten();
        let frames = entries.map(walkdir::DirEntry::into_path).filter(|path| path.is_file());
        all.extend(frames.filter(|file| file.extension().is_some_and(|end| end == "jsonl")));
    }
    if all.is_empty() { Err(Failure::new("no file of frames is there")) } else { Ok(all) }
}

/// Answers a frame, and counts it where it is a call.
fn count(counts: &mut BTreeMap<String, Count>, line: &str, answer: impl FnOnce() -> Result<Value>) -> Result {
    let frame: Value = serde_json::from_str(line).unwrap_or_default();
    let answer = answer()?;
    if frame.get("hook_event_name").and_then(Value::as_str) != Some("PreToolUse") {
        return Ok(());
    }
    let tool = frame.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let count = counts.entry(tool.to_string()).or_default();
    count.calls += 1;
    match answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str) {
        Some("allow") => count.approved += 1,
        Some(_) => count.denied += 1,
        None => {}
    }
    Ok(())
}

/// What the hook says to a frame.
fn answer(scratch: &Scratch, guard: &Path, client: &str, line: &str) -> Result<Value> {
    let failed = |error: std::io::Error| Failure::file(guard, error);
    let mut command: Command = scratch.command(guard);
    command.args(["hook", client]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(line.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

fn print(counts: &BTreeMap<String, Count>, files: usize) {
    anstream::println!("{:<32} {:>7} {:>9} {:>7}", "tool", "calls", "approved", "denied");
    for (tool, Count { calls, approved, denied }) in counts {
        anstream::println!("{tool:<32} {calls:>7} {approved:>9} {denied:>7}");
    }
    let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
    let asked = counts.iter().filter(|(tool, _)| !UNASKED.contains(&tool.as_str()));
    let (of, removed) = asked.fold((0, 0), |(of, removed), (_, one)| (of + one.calls, removed + one.approved));
    anstream::println!(
        "{files} files: {} of {} calls approved; of {of} calls of tools that a client asks about by itself, {removed}",
        sum(|one| one.approved),
        sum(|one| one.calls)
    );
}
