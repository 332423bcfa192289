//! What it costs to compare the watched files by content, in a project of 5,000 files of which a phase forbids to change 200:
//! `cargo bench -p phasegate-runtime --features testing --bench look`.
//!
//! Each sample is a call of a program and its result, so two looks. What `nothing` takes is the rest of both.
#![allow(clippy::unwrap_used, missing_docs, reason = "benchmarks")]

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use divan::Bencher;
use phasegate_core::Event;
use phasegate_runtime::scratch;
use serde_json::{Value, json};

/// How many folders the project has, how many of them are below `src`, and how many files each has.
const FOLDERS: usize = 100;
const WATCHED: usize = 4;
const FILES: usize = 50;
/// What changed so short a time before a look is read again at the next.
const SETTLES: Duration = Duration::from_millis(300);

fn main() {
    divan::main();
}

#[divan::bench(args = ["nothing", "src/**", "**/src/**/*.py"], sample_count = 200)]
fn a_call_and_its_result(bencher: Bencher<'_, '_>, pattern: &str) {
    let phase = format!("    allowed: [{{command: '*'}}]\n    forbidden: [{{writes: '{pattern}'}}]\n");
    let skill = format!("skill: work\nmode: block\nfinish: agent\nphases:\n  look:\n{phase}");
    let (folder, runtime, project) = scratch::project(&skill).unwrap();
    for number in 0..FOLDERS {
        let top = if number < WATCHED { "src" } else { "other" };
        let place = folder.path().join(format!("project/{top}/d{number}"));
        fs::create_dir_all(&place).unwrap();
        (0..FILES).for_each(|file| fs::write(place.join(format!("f{file}.py")), "text = 1\n").unwrap());
    }
    let give = |event: Value| {
        let outcome = runtime.handle_event(project.clone(), "s", Event::from_value(event).unwrap()).unwrap();
        assert!(outcome.and_then(|outcome| outcome.decision).is_none_or(|decision| decision.lets_through()));
    };
    let call = || {
        give(json!({"event": "tool_call", "id": "t", "tool": "Bash", "input": {"command": "make x"}}));
        give(json!({"event": "tool_result", "id": "t", "tool": "Bash", "outcome": "ok"}));
    };
    give(json!({"event": "session_start", "source": "startup"}));
    give(json!({"event": "skill", "name": "work", "by": "human"}));
    sleep(SETTLES);
    call();
    sleep(SETTLES);
    call();
    bencher.bench_local(call);
}
