//! What it costs to open a journal: by the length of its history, with many open calls, and without the fingerprint.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use divan::Bencher;
use phasegate_core::state::Session;
use phasegate_core::{Change, Durability, State};
use phasegate_formats::journal::Entry;
use phasegate_store::deadline::Deadline;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// The engine's half of a session.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Kept(Session);

impl JournalState for Kept {
    type Change = Change;

    fn apply(&mut self, change: &Change) {
        let mut state = State { session: std::mem::take(&mut self.0), ..State::default() };
        state.apply(change);
        self.0 = state.session;
    }
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn changes(changes: Value) -> Vec<Change> {
    serde_json::from_value(changes).unwrap()
}

/// The journal of a session with a run and so many records; of so many calls the outcome was never seen.
fn journal(records: u64, open_calls: u64) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.journal");
    let (mut journal, mut state) = Journal::open::<Kept>(&FileStore, &path, &Deadline::new(LIMIT)).unwrap();
    let mut append = |time: u64, event: Value, changes: Vec<Change>| {
        changes.iter().for_each(|change| state.apply(change));
        let (engine, policy) = ("0.1.0".to_string(), "p".repeat(64));
        let time = i64::try_from(time).unwrap();
        let entry = Entry { time, engine, policy, event, changes, ..Entry::default() };
        journal.append(&entry, &state, Durability::Written).unwrap();
    };
    let run = json!({"id": "r1", "skill": "work", "version": "v".repeat(64), "mode": "block", "scope": "session",
        "by": "agent", "status": "active", "phase": "look", "phase_before": "look", "visit": 1, "visits": 1});
    append(0, json!({"event": "skill"}), changes(json!([{"seen": {"session": "s"}}, {"run_begun": run}])));
    for number in 1..records {
        let id = format!("toolu_{number:020}");
        let is_open = number <= open_calls;
        if number % 2 == 1 || is_open {
            let event = json!({"event": "tool_call", "id": id, "tool": "Read", "input": {"file_path": "src/main.rs"}});
            let call = json!({"id": id, "tool": "Read", "input": "", "since": number,
                "visits": [{"run": "r1", "phase": 0, "visit": 1, "listed": true}]});
            let said = json!([{"seen": {}}, {"call_opened": call}, {"judged": {"run": "r1", "tool": "Read"}}]);
            append(number, event, changes(said));
        } else {
            let event = json!({"event": "tool_result", "id": id, "tool": "Read", "outcome": "ok"});
            let said = json!([{"seen": {}}, {"call_outcome": {"call": number, "outcome": "ok"}}]);
            append(number, event, changes(said));
        }
    }
    Place { _folder: folder, path }
}

const LIMIT: Duration = Duration::from_secs(60);

#[divan::bench(args = [10, 1_000, 10_000, 100_000])]
fn records(bencher: Bencher<'_, '_>, count: u64) {
    let place = journal(count, 0);
    bencher.bench_local(|| Journal::open::<Kept>(&FileStore, &place.path, &Deadline::new(LIMIT)).unwrap().1);
}

#[divan::bench(args = [0, 60])]
fn open_calls(bencher: Bencher<'_, '_>, count: u64) {
    let place = journal(1_000, count);
    bencher.bench_local(|| Journal::open::<Kept>(&FileStore, &place.path, &Deadline::new(LIMIT)).unwrap().1);
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn without_the_fingerprint(bencher: Bencher<'_, '_>, count: u64) {
    let place = journal(count, 0);
    let file = OpenOptions::new().append(true).open(&place.path).unwrap();
    let touch = || file.set_modified(SystemTime::now()).unwrap();
    let open = |()| Journal::open::<Kept>(&FileStore, &place.path, &Deadline::new(LIMIT)).unwrap().1;
    bencher.with_inputs(touch).bench_local_values(open);
}

#[divan::bench(args = [10, 100_000])]
fn last_record_without_the_lock(bencher: Bencher<'_, '_>, count: u64) {
    let place = journal(count, 0);
    bencher.bench_local(|| read_last::<Kept>(&FileStore, &place.path).unwrap());
}
