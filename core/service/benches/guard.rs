//! The cache guard in process, on the disk that the temporary folder lies on: one event, one call (a `tool_call` and its
//! `tool_result`), and many sessions at once.
//!
//! `cargo bench -p phasegate-service --bench guard`; `-- --percentiles` prints the 50th and the 99th percentile of single
//! events, and how many calls a second 1 and 64 sessions reach.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on says so, and prints its figures"
)]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use phasegate_adapter::Guard as _;
use phasegate_core::{Event, Outcome};
use phasegate_runtime::{Locations, Project, Runtime};
use phasegate_service::ProjectGuard;
use serde_json::{Value, json};

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nservers: [index]\nphases:\n  look:\n    allowed: [look_up, search]\n    \
                     forbidden: [apply]\n    done_when: { ok: look_up }\n  change:\n    allowed: [apply]\n";
/// How long each figure is measured.
const EACH: Duration = Duration::from_secs(3);

fn main() {
    if std::env::args().any(|argument| argument == "--percentiles") {
        percentiles();
    } else {
        divan::main();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A project with a skill, and the guard of it.
struct Place {
    _folder: tempfile::TempDir,
    guard: ProjectGuard,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let top = folder.path();
        let skills = top.join("project/.phasegate/skills");
        std::fs::create_dir_all(&skills).expect("the folder is ours");
        std::fs::write(skills.join("work.yaml"), SKILL).expect("the folder is ours");
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
        let locations = Locations { state, user, machine, home };
        let project = Project::find(&locations, &top.join("project"));
        let adapters = std::iter::empty::<&dyn phasegate_adapter::Adapter>();
        let guard = ProjectGuard::new(Runtime::new(locations, adapters), project);
        Self { _folder: folder, guard }
    }

    fn give(&self, session: &str, event: Value) -> Outcome {
        let event = Event::from_value(event).expect("the events below are in order");
        block_on(self.guard.handle(session, event)).expect("nothing keeps the guard from deciding")
    }

    /// A live session in which the skill's first phase is done.
    fn begin(&self, session: &str) {
        let _ = self.give(session, json!({"event": "session_start", "source": "startup"}));
        let _ = self.give(session, json!({"event": "skill", "name": "work", "by": "human"}));
        self.call(session, "first", "look_up");
    }

    /// A call and its result. What a tool can do is not said of `search`, so that each of its arguments is looked at.
    fn call(&self, session: &str, id: &str, tool: &str) {
        let input = json!({"query": "where is it used", "folder": "src/inner", "limit": 20});
        let labels = if tool == "look_up" { json!(["read"]) } else { json!(null) };
        let call = json!({"event": "tool_call", "id": id, "tool": tool, "server": "index", "input": input,
            "labels": labels});
        let step = self.give(session, call);
        assert!(step.decision.is_some_and(|decision| decision.lets_through()), "{tool} is allowed");
        let _ = self.give(session, json!({"event": "tool_result", "id": id, "outcome": "ok"}));
    }
}

#[divan::bench(sample_count = 200, sample_size = 10)]
fn one_call(bencher: divan::Bencher<'_, '_>) {
    let place = Place::new();
    place.begin("s");
    let mut number = 0_u64;
    bencher.bench_local(|| {
        number += 1;
        place.call("s", &number.to_string(), "search");
    });
}

#[divan::bench(sample_count = 50, sample_size = 10)]
fn one_probe_of_twenty_tools(bencher: divan::Bencher<'_, '_>) {
    let place = Place::new();
    place.begin("s");
    let call = |tool| json!({"event": "tool_call", "tool": tool, "server": "index", "input": null});
    let events: Vec<_> =
        (0..20).filter_map(|n| Event::from_value(call(if n % 2 == 0 { "apply" } else { "search" })).ok()).collect();
    bencher.bench_local(|| block_on(place.guard.probe("s", events.clone())));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn a_session_begins(bencher: divan::Bencher<'_, '_>) {
    let place = Place::new();
    let mut number = 0_u64;
    bencher.bench_local(|| {
        number += 1;
        place.begin(&number.to_string());
    });
}

fn percentiles() {
    let place = Place::new();
    place.begin("s");
    for tool in ["look_up", "search"] {
        let (mut taken, began, mut number) = (Vec::new(), Instant::now(), 0_u64);
        while began.elapsed() < EACH {
            number += 1;
            let before = Instant::now();
            place.call("s", &number.to_string(), tool);
            taken.push(before.elapsed());
        }
        taken.sort_unstable();
        let at = |share: usize| taken.get(taken.len() * share / 100).copied().unwrap_or_default().as_secs_f64() * 1e6;
        println!("a call of `{tool}` (two events), one session: p50 {:.1} µs, p99 {:.1} µs", at(50), at(99));
        println!("calls a second, one session: {:.0}", number as f64 / began.elapsed().as_secs_f64());
    }
    for open in 0..63 {
        let input = json!({"query": format!("{open}")});
        let call = json!({"event": "tool_call", "id": format!("open-{open}"), "tool": "look_up", "server": "index",
            "input": input, "labels": ["read"]});
        let _ = place.give("s", call);
    }
    let (began, mut number) = (Instant::now(), 0_u64);
    while began.elapsed() < EACH {
        number += 1;
        place.call("s", &number.to_string(), "look_up");
    }
    println!("calls a second, one session, 63 others open: {:.0}", number as f64 / began.elapsed().as_secs_f64());
    for (sessions, tool) in [(64_usize, "search"), (64, "look_up")] {
        println!("calls a second, {sessions} sessions, `{tool}`: {:.0}", together(sessions, tool));
    }
}

/// How many calls a second so many sessions reach, each on a thread of its own. `look_up` is called after a new beginning
/// each time, so that every result is evidence and must be durable.
fn together(sessions: usize, tool: &str) -> f64 {
    let place = Place::new();
    (0..sessions).for_each(|session| place.begin(&session.to_string()));
    let (place, began) = (&place, Instant::now());
    let count = |session: usize| {
        let (session, mut number) = (session.to_string(), 0_u64);
        while began.elapsed() < EACH {
            number += 1;
            if tool == "look_up" {
                let anew = json!({"event": "command", "by": "human", "name": "deactivate_skill",
                    "args": {"skill_name": "work"}});
                let _ = place.give(&session, anew);
                let _ = place.give(&session, json!({"event": "skill", "name": "work", "by": "human"}));
            }
            place.call(&session, &number.to_string(), tool);
        }
        number
    };
    let total: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..sessions).map(|session| scope.spawn(move || count(session))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
    });
    total as f64 / began.elapsed().as_secs_f64()
}
