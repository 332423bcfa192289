//! Many hooks at once on one session, some of them killed: the journal is whole, and says what was answered.
//!
//! `cargo xtask stress` runs this with more processes and events, and says how far it is.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use phasegate_core::{Decision, Event, Policy, State, step};
use phasegate_runtime::digest::sha256;
use phasegate_runtime::operate::verify::verify;
use phasegate_runtime::policies::policy_store::PolicyStore;
use phasegate_runtime::sessions::snapshot::{ProjectSnapshot, SessionSnapshot};
use phasegate_runtime::{Locations, Project};
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::Scan;
use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

/// A skill whose phases are gone through again and again.
const SKILL: &str = "
skill: round
description: look, write, test, and again
finish: agent
unlisted: read_only
phases:
  look:
    allowed: [Read]
    forbidden: [Write]
    done_when: { ok: Read }
  write:
    allowed: [Edit]
    done_when: { ok: Edit }
  test:
    allowed: [{ tool: Bash, command: \"cargo test\" }]
    done_when: { ok: { tool: Bash, command: \"cargo test\" } }
    on_failure: { to: write, limit: 5 }
";

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(format!("PHASEGATE_STRESS_{name}")).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A number that looks drawn by lot and is the same in every run with the same seed.
fn lot(what: &str, number: u64) -> u64 {
    let seed = setting("SEED", 1);
    let digest = sha256(&[what.as_bytes(), &seed.to_be_bytes(), &number.to_be_bytes()]);
    u64::from_be_bytes(digest[..8].try_into().unwrap())
}

/// The tool and the arguments of a call.
fn call(number: u64) -> (&'static str, Value) {
    match lot("tool", number) % 100 {
        0..4 => ("Skill", json!({"skill": "round"})),
        4..40 => ("Read", json!({"file_path": format!("src/{}.rs", number % 50)})),
        40..65 => ("Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": number.to_string()})),
        65..85 => ("Bash", json!({"command": "cargo test"})),
        85..95 => {
            ("Write", json!({"file_path": "b.rs", "content": "b".repeat(usize::try_from(number % 900).unwrap())}))
        }
        _ => ("Grep", json!({"pattern": "x"})),
    }
}

/// The message of this number; `other` is the call whose result it may tell.
fn frame(world: &World, number: u64, other: Option<u64>) -> Value {
    let (event, fields) = match (lot("kind", number) % 100, other) {
        (0..55, _) => {
            let (tool, input) = call(number);
            ("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("c{number}")}))
        }
        (55..98, Some(other)) => {
            let (tool, input) = call(other);
            let response = match tool {
                "Bash" => json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false}),
                _ => json!({"type": "text"}),
            };
            let id = format!("c{other}");
            (
                "PostToolUse",
                json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response}),
            )
        }
        _ => ("UserPromptSubmit", json!({"prompt": format!("go on {number}")})),
    };
    let mut frame = json!({"session_id": "s", "transcript_path": "/t", "cwd": world.root(), "permission_mode": "default",
        "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    frame
}

/// The result of one hook.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Passed,
    Denied(String),
    Killed,
}

fn hook(world: &World, number: u64, other: Option<u64>) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phasegate"));
    command.args(["hook", "claude-code"]).current_dir(world.root()).env_clear().envs(world.variables());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One that is killed early closes the pipe.
    drop(stdin.write_all(frame(world, number, other).to_string().as_bytes()));
    drop(stdin);
    if lot("kill", number).is_multiple_of(6) {
        std::thread::sleep(Duration::from_micros(lot("when", number) % setting("KILL_WITHIN", 60_000)));
        child.kill().unwrap();
    }
    let output: Output = child.wait_with_output().unwrap();
    if output.status.code().is_none() {
        return Answer::Killed;
    }
    match reply(&output) {
        Reply::Silent | Reply::Told(_) => Answer::Passed,
        Reply::Denied(text) => Answer::Denied(text),
    }
}

/// Sends all frames from this many processes at a time. Returns the result of each frame.
fn send_all(world: &World, processes: u64, events: u64) -> BTreeMap<u64, Answer> {
    let (next, done) = (AtomicU64::new(1), AtomicU64::new(0));
    let answers = Mutex::new(BTreeMap::new());
    let passed = Mutex::new(Vec::new());
    let progress = std::env::var_os("PHASEGATE_STRESS_PROGRESS").map(PathBuf::from);
    std::thread::scope(|scope| {
        for _ in 0..processes {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number > events {
                        break;
                    }
                    // A client tells the results of calls that were let through.
                    let ran = passed.lock().unwrap().clone();
                    let which = lot("which", number).checked_rem(ran.len() as u64);
                    let other = which.and_then(|at| ran.get(usize::try_from(at).unwrap()).copied());
                    let answer = hook(world, number, other);
                    let is_call = frame(world, number, other)["hook_event_name"] == "PreToolUse";
                    if is_call && answer == Answer::Passed {
                        passed.lock().unwrap().push(number);
                    }
                    answers.lock().unwrap().insert(number, answer);
                    let so_far = done.fetch_add(1, Ordering::SeqCst) + 1;
                    if let Some(path) = progress.as_ref().filter(|_| so_far.is_multiple_of(20)) {
                        fs::write(path, so_far.to_string()).unwrap();
                    }
                }
            });
        }
    });
    answers.into_inner().unwrap()
}

/// One record of the session's journal, decided again from the state before it.
struct Replayed {
    event: Value,
    decision: Option<Decision>,
    problem: bool,
}

/// Steps the events of the session's journal one after the other, as one process alone would, and compares the state and
/// the answer of each with what is recorded.
fn replay(world: &World, project: &Project) -> Vec<Replayed> {
    let mut projects = vec![ProjectSnapshot::default()];
    let mut scan = Scan::<ProjectSnapshot>::open(&FileStore, &project.journal()).unwrap();
    while let Some(record) = scan.next() {
        record.unwrap();
        projects.push(scan.state().clone());
    }
    let store = PolicyStore::new(&world.state());
    let mut policies: BTreeMap<String, Policy> = BTreeMap::new();
    let (mut before, mut replayed, mut last_seq) = (SessionSnapshot::default(), Vec::new(), 0);
    let mut scan = Scan::<SessionSnapshot>::open(&FileStore, &project.session_journal("s")).unwrap();
    while let Some(record) = scan.next() {
        let record = record.unwrap();
        let (after, entry) = (scan.state().clone(), record.entry);
        let seq = usize::try_from(entry.project_seq.unwrap_or_default()).unwrap();
        let own = seq > last_seq;
        last_seq = seq;
        let problem = entry.problem.is_some();
        if problem || entry.event.get("event").is_none() {
            assert_eq!(after.session, before.session, "record {} changes nothing", record.seq);
        } else {
            let state = State {
                session: before.session.clone(),
                project: projects[if own { seq - 1 } else { seq }].project.clone(),
            };
            let load = || store.load(&entry.policy, &after.policy_digest, &state).unwrap();
            let policy = policies.entry(entry.policy.clone()).or_insert_with(load);
            let event = Event::from_value(entry.event.clone()).unwrap();
            let again = step(policy, &state, &event, &entry.facts);
            let stepped = again.state_after(&state);
            assert_eq!(stepped.session, after.session, "the state after record {}", record.seq);
            assert_eq!(stepped.project, projects[seq].project, "the project's state after record {}", record.seq);
            assert_eq!(again.decision, entry.decision, "the answer in record {}", record.seq);
        }
        before = after;
        replayed.push(Replayed { event: entry.event, decision: entry.decision, problem });
    }
    replayed
}

/// How often a record with this number's event is in the journal, and the answer in it.
fn recorded(world: &World, replayed: &[Replayed]) -> BTreeMap<u64, Vec<Option<bool>>> {
    let mut by_key: BTreeMap<String, Vec<Option<bool>>> = BTreeMap::new();
    for record in replayed.iter().filter(|record| !record.problem) {
        let lets = record.decision.as_ref().map(Decision::lets_through);
        by_key.entry(key(&record.event)).or_default().push(lets);
    }
    let numbers = 1..=setting("EVENTS", 600);
    let calls = numbers.filter(|number| frame(world, *number, None)["hook_event_name"] == "PreToolUse");
    calls.map(|number| (number, by_key.get(&format!("tool_call c{number}")).cloned().unwrap_or_default())).collect()
}

fn key(event: &Value) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    format!("{} {}", text("event"), text("id"))
}

#[test]
fn processes_at_once_of_which_some_are_killed_leave_a_whole_journal_of_all_that_was_answered() {
    let (processes, events) = (setting("PROCESSES", 16), setting("EVENTS", 600));
    let world = World::guarded("block");
    world.write(".phasegate/skills/round.yaml", SKILL);
    world.start("s");
    let began = Instant::now();
    let answers = send_all(&world, processes, events);
    let took = began.elapsed();
    // What the last one that was killed left behind is mended by the next.
    let end = reply(&world.frame("s", "UserPromptSubmit", json!({"prompt": "the end"})));
    assert!(!matches!(end, Reply::Denied(_)), "{end:?}");

    let locations =
        Locations { state: world.state(), user: PathBuf::new(), machine: PathBuf::new(), home: world.home() };
    let project = Project::at(&locations, &world.root());
    let report = verify(&locations, &project, &mut |_, _| {});
    assert!(report.fits(), "{:#?}", report.findings);
    let replayed = replay(&world, &project);

    let mut figures =
        BTreeMap::from([("processes", processes), ("events", events), ("records", replayed.len() as u64)]);
    let mut count = |what| *figures.entry(what).or_default() += 1;
    let recorded = recorded(&world, &replayed);
    for (number, answer) in &answers {
        let records = recorded.get(number);
        assert!(records.is_none_or(|records| records.len() <= 1), "call {number} is recorded twice");
        let record = records.and_then(|records| records.first());
        match (answer, records.is_some()) {
            (Answer::Passed, true) => {
                assert_eq!(record, Some(&Some(true)), "call {number} was allowed, and the journal does not say so");
                count("calls allowed");
            }
            (Answer::Denied(text), true) if record.is_none() => {
                assert!(text.contains("state-busy"), "call {number} was denied and not recorded: {text}");
                count("calls denied, and nothing recorded");
            }
            (Answer::Denied(text), true) => {
                assert_eq!(
                    record,
                    Some(&Some(false)),
                    "call {number} was denied, and the journal does not say so: {text}"
                );
                count("calls denied");
            }
            (Answer::Killed, true) if record.is_some() => count("calls killed after they were recorded"),
            (Answer::Killed, true) => count("calls killed before they were recorded"),
            (Answer::Killed, false) => count("other events killed"),
            (Answer::Passed, false) => count("other events answered"),
            (Answer::Denied(text), false) => {
                assert!(text.contains("state-busy"), "event {number}: {text}");
                count("other events refused");
            }
        }
    }
    let text = fs::read_to_string(project.session_journal("s")).unwrap();
    figures.insert("torn records cut off", text.matches(",\"cut\":").count() as u64);
    figures.insert("broken seals mended", text.matches("\"unsealed\":true").count() as u64);
    figures.insert("moves", text.matches("\"phase_entered\"").count() as u64);
    figures.insert("bytes in the session's journal", text.len() as u64);
    figures.insert("milliseconds", u64::try_from(took.as_millis()).unwrap());
    assert!(figures["calls allowed"] > 0 && figures["calls denied"] > 0 && figures["moves"] > 0, "{figures:#?}");
    if let Some(path) = std::env::var_os("PHASEGATE_STRESS_FIGURES") {
        fs::write(Path::new(&path), serde_json::to_string(&figures).unwrap()).unwrap();
    }
}
