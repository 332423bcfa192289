//! What the start of a session costs, by how many sessions are kept: `cargo bench -p phasegate-runtime --features testing --bench start`.
//!
//! Each kept session has a live run in block mode, as most have that a person leaves behind. The second benchmark starts
//! 50 sessions at once: they wait for each other, since a start holds the lock of the project.
#![allow(clippy::unwrap_used, missing_docs, reason = "benchmarks")]

use std::sync::atomic::{AtomicU64, Ordering};

use divan::Bencher;
use phasegate_core::Event;
use phasegate_runtime::{Project, Runtime, scratch};
use serde_json::{Value, json};

const SKILL: &str = "skill: work\nmode: block\nfinish: agent\nphases:\n  look:\n    allowed: [Read]\n";
/// How many sessions start at once.
const AT_ONCE: u64 = 50;

fn main() {
    divan::main();
}

struct Kept {
    _folder: tempfile::TempDir,
    runtime: Runtime,
    project: Project,
    started: AtomicU64,
}

impl Kept {
    /// A project with so many sessions.
    fn new(sessions: u64) -> Self {
        let (folder, runtime, project) = scratch::project(SKILL).unwrap();
        let kept = Self { _folder: folder, runtime, project, started: AtomicU64::new(0) };
        for number in 0..sessions {
            let session = format!("kept{number}");
            kept.give(&session, json!({"event": "session_start", "source": "startup"}));
            kept.give(&session, json!({"event": "skill", "name": "work", "by": "human"}));
        }
        kept
    }

    fn give(&self, session: &str, event: Value) {
        let event = Event::from_value(event).unwrap();
        // On a slow disk a start may wait for the lock for longer than its deadline allows.
        while self.runtime.handle_event(self.project.clone(), session, event.clone()).is_err() {}
    }

    /// Starts a new session.
    fn start(&self, source: &str) {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        self.give(&format!("new{number}"), json!({"event": "session_start", "source": source}));
    }
}

#[divan::bench(args = [0, 100, 1_500], sample_count = 40)]
fn startup(bencher: Bencher<'_, '_>, sessions: u64) {
    let kept = Kept::new(sessions);
    bencher.bench_local(|| kept.start("startup"));
}

/// A fork joins runs of sessions at rest.
#[divan::bench(args = [0, 100, 1_500], sample_count = 40)]
fn fork(bencher: Bencher<'_, '_>, sessions: u64) {
    let kept = Kept::new(sessions);
    bencher.bench_local(|| kept.start("fork"));
}

#[divan::bench(args = [0, 100, 1_500], sample_count = 5)]
fn fifty_at_once(bencher: Bencher<'_, '_>, sessions: u64) {
    let kept = Kept::new(sessions);
    bencher.bench_local(|| {
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| kept.start("startup"));
            }
        });
    });
}
