//! What ten conditions add to a call: its event is evaluated and then taken into the state.

use std::collections::BTreeMap;

use divan::{Bencher, black_box};
use phasegate_history::leaf::Param;
use phasegate_history::{Event, History, Leaf, Request, Value, observe};
use serde_json::{Value as Json, json};

fn main() {
    divan::main();
}

/// The ten rules of the tests; each has one condition.
fn leaves() -> Vec<Leaf> {
    let leaves: BTreeMap<String, Vec<Leaf>> =
        serde_json::from_str(include_str!("../tests/leaves.json")).unwrap_or_default();
    leaves.into_values().flatten().collect()
}

struct Context(Json);

impl Request for Context {
    fn param(&self, param: &Param) -> Option<Value> {
        let found = param.path.iter().try_fold(&self.0, |json, name| json.get(name))?;
        Some(Value::from_json(found))
    }
}

fn fields(number: i64) -> Json {
    let program = ["cargo", "git", "migrate", "ls"].get(usize::try_from(number % 4).unwrap_or(0)).copied();
    json!({
        "input": {"file_path": format!("src/file-{}.rs", number % 40), "command": "cargo test"},
        "command": {"program": program, "text": format!("cargo test {}", number % 30)},
        "path": {"name": format!("src/file-{}.rs", number % 40), "file": "file.rs"},
        "output": {"ok": number % 5 != 0, "tests": "passed", "cost": number % 7},
    })
}

/// A session of so many events, one every `every` milliseconds.
fn history(leaves: &[Leaf], events: i64, every: i64) -> History {
    let mut history = History::default();
    for number in 0..events {
        let all = [
            ("Edit", "call"),
            ("Read", "response"),
            ("Bash", "call"),
            ("Bash", "response"),
            ("Edit", "request"),
            ("pay/send", "response"),
        ];
        let (action, kind) = all.get(usize::try_from(number % 6).unwrap_or(0)).copied().unwrap_or_default();
        let fields = fields(number);
        let event = Event { time: number * every, namespace: "Action", action, also: &[], kind, fields: &fields };
        history.apply(&observe(leaves, &event));
    }
    history
}

/// One call after that many events: every condition is evaluated, and the request is taken into the state.
#[divan::bench(args = [100, 100_000])]
fn call(bencher: Bencher<'_, '_>, events: i64) {
    let leaves = leaves();
    let every = 20_000;
    let history = history(&leaves, events, every);
    let now = fields(events);
    let context = Context(json!({"input": {"file_path": "src/file-3.rs"}, "command": {"text": "cargo test 3"}}));
    let event =
        Event { time: events * every, namespace: "Action", action: "Edit", also: &[], kind: "request", fields: &now };
    bencher.with_inputs(|| history.clone()).bench_local_refs(|history| {
        for leaf in &leaves {
            black_box(history.evaluate(leaf, &event, &context));
        }
        history.apply(&observe(&leaves, &event));
    });
}

/// The same with events so dense that tables are full.
#[divan::bench(args = [100, 100_000])]
fn dense_call(bencher: Bencher<'_, '_>, events: i64) {
    let leaves = leaves();
    let history = history(&leaves, events, 1_000);
    let now = fields(events);
    let context = Context(json!({"input": {"file_path": "src/file-3.rs"}, "command": {"text": "cargo test 3"}}));
    let event =
        Event { time: events * 1_000, namespace: "Action", action: "Edit", also: &[], kind: "request", fields: &now };
    bencher.with_inputs(|| history.clone()).bench_local_refs(|history| {
        for leaf in &leaves {
            black_box(history.evaluate(leaf, &event, &context));
        }
        history.apply(&observe(&leaves, &event));
    });
}

/// Reading and writing the state of ten conditions, as a hook process does once.
#[divan::bench(args = [100, 100_000])]
fn read_and_write(bencher: Bencher<'_, '_>, events: i64) {
    let leaves = leaves();
    let written = serde_json::to_string(&history(&leaves, events, 20_000)).unwrap_or_default();
    bencher.counter(divan::counter::BytesCount::new(written.len())).bench(|| {
        let history: History = serde_json::from_str(black_box(&written)).unwrap_or_default();
        serde_json::to_string(&history)
    });
}
