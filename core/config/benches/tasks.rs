//! One decision in process, while a project's workflow works on many tasks and two skills of the session are live.

use std::fmt;

use phasegate_config::instance;
use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_core::events::event::By;
use phasegate_core::{Event, EventKind, FactKey, FactValue, Facts, Policy, State, step};
use serde_json::{Value, json};

/// Measures. With `count CASE` it decides a command once, for `cargo xtask counts`.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["count", "40 tasks"] => once(SIZES[0]),
        _ => divan::main(),
    }
}

fn once(tasks: Tasks) {
    let mut policy = policy();
    let state = begun(&mut policy, tasks);
    let call = event(serde_json::from_str(CALLS[2].1).unwrap_or_default());
    let (_, facts) = after(&mut policy, &state, &call, tasks);
    drop(divan::black_box(step(&policy, &state, &call, &facts)));
}

const SKILLS: [&str; 2] = ["test-first", "release"];

/// A workflow of 7 phases, whose last one runs each task of a plan.
const FLOW: &str = "skill: flow\ndescription: From an idea to code.\nscope: project\nmode: block\nartifacts: {tasks: \
                    {path: [plan.json]}}\nphases:\n  a: {allowed: [{skill: a}], next: [b, f]}\n  b: {allowed: [{skill: \
                    b}]}\n  c: {allowed: [{skill: c}]}\n  d: {allowed: [{skill: d}]}\n  e: {allowed: [{skill: e}]}\n  f: \
                    {produces: [tasks]}\n  g: {requires: {artifact: tasks}, run: {each: tasks, after: after, barrier: \
                    wave, skill: task, gate: {ok: {command: gate}}}}\n";
const TASK: &str = "skill: task\ndescription: One task.\nscope: project\nmode: block\nunlisted: allow\ninputs: {id: \
                    'T[0-9]+'}\nphases:\n  write: {allowed: [{writes: 'src/${id}.rs'}], done_when: {ok: {writes: \
                    'src/${id}.rs'}}, leave: on_done}\n  review: {allowed: [{command: review}], done_when: {ok: \
                    {command: review}}}\n";

/// How many tasks there are, and in each wave. Those of the first wave are live.
#[derive(Clone, Copy, Debug)]
struct Tasks(usize, usize);

impl fmt::Display for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tasks, {} live", self.0, self.1)
    }
}

const SIZES: [Tasks; 5] = [Tasks(40, 8), Tasks(400, 8), Tasks(40, 40), Tasks(400, 40), Tasks(400, 400)];

const CALLS: [(&str, &str); 3] = [
    (
        "an edit that is allowed",
        r#"{"event": "tool_call", "tool": "Edit", "input": {"file_path": "tests/a.rs"},
            "reading": {"paths": [{"written": "tests/a.rs", "resolved": "tests/a.rs", "access": "write"}]}}"#,
    ),
    (
        "a file that is read",
        r#"{"event": "tool_call", "tool": "Read", "input": {"file_path": "src/a.rs"},
            "reading": {"paths": [{"written": "src/a.rs", "resolved": "src/a.rs", "access": "read"}]}}"#,
    ),
    (
        "a command",
        r#"{"event": "tool_call", "tool": "Bash", "input": {"command": "cargo test"},
            "reading": {"commands": [{"words": [{"known": "cargo"}, {"known": "test"}], "span": [0, 10],
            "verdict": "execute", "status": "own"}]}}"#,
    ),
];

fn policy() -> Policy {
    let file = |path: &str, text: String, kind| SourceFile { path: path.into(), text, level: Level::Project, kind };
    let compiled = compile(&[
        file("config.yaml", format!("use: [{}]\n", SKILLS.join(", ")), Kind::Settings),
        file("flow.yaml", FLOW.into(), Kind::Skill),
        file("task.yaml", TASK.into(), Kind::Skill),
    ]);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    compiled.policy
}

/// What is known of the files at an event: the plan is new, with so many tasks.
fn fact(key: &FactKey, tasks: Tasks, event: u64) -> FactValue {
    FactValue::Known(match key.source() {
        "contents" => json!({"plan.json": format!("digest {event}")}),
        "elements" => {
            let task = |at: usize| json!({"id": format!("T{at}"), "wave": at / tasks.1});
            json!({"plan.json": (0..tasks.0).map(task).collect::<Vec<_>>()})
        }
        _ => json!("digest"),
    })
}

/// The state after an event. Gathers what is asked for, and makes the skills of the tasks.
fn after(policy: &mut Policy, state: &State, event: &Event, tasks: Tasks) -> (State, Facts) {
    let mut facts = Facts::new();
    loop {
        let outcome = step(policy, state, event, &facts);
        if outcome.needs.is_empty() && outcome.instances.is_empty() {
            return (outcome.state_after(state), facts);
        }
        for wanted in &outcome.instances {
            let made = policy.skill_version(&wanted.skill, &wanted.version);
            policy.earlier.extend(made.and_then(|skill| instance(skill, &wanted.values)));
        }
        facts
            .extend(outcome.needs.into_iter().map(|key| (key.clone(), fact(&key, tasks, state.session.events).into())));
    }
}

/// A session in which both skills and the tasks of the first wave are live.
fn begun(policy: &mut Policy, tasks: Tasks) -> State {
    let invoked = |name: &str, by| EventKind::Skill { name: name.into(), args: None, by };
    let plan = json!({"event": "tool_call", "tool": "Write", "input": {"file_path": "plan.json"},
        "reading": {"paths": [{"written": "plan.json", "resolved": "plan.json", "access": "write"}]}});
    let onward = EventKind::Command { by: By::Human, name: "advance".into(), args: json!({"skill_name": "flow"}) };
    let mut state = after(policy, &State::default(), &Event::new("s", invoked("flow", By::Human)), tasks).0;
    state = after(policy, &state, &event(plan), tasks).0;
    state = after(policy, &state, &Event::new("s", onward), tasks).0;
    for name in SKILLS {
        state = after(policy, &state, &Event::new("s", invoked(name, By::Agent)), tasks).0;
    }
    assert_eq!(state.live_runs().count(), 1 + tasks.1 + SKILLS.len());
    state
}

fn event(value: Value) -> Event {
    Event::from_value(value).unwrap_or_else(|problem| unreachable!("{problem}"))
}

fn decide(bencher: divan::Bencher<'_, '_>, tasks: Tasks, name: &str) {
    let (_, call) = CALLS.into_iter().find(|(other, _)| *other == name).unwrap_or_default();
    let mut policy = policy();
    let state = begun(&mut policy, tasks);
    let call = event(serde_json::from_str(call).unwrap_or_default());
    let (_, facts) = after(&mut policy, &state, &call, tasks);
    bencher.bench_local(|| step(&policy, &state, &call, &facts));
}

#[divan::bench(args = SIZES)]
fn an_edit(bencher: divan::Bencher<'_, '_>, tasks: Tasks) {
    decide(bencher, tasks, CALLS[0].0);
}

#[divan::bench(args = SIZES)]
fn a_read(bencher: divan::Bencher<'_, '_>, tasks: Tasks) {
    decide(bencher, tasks, CALLS[1].0);
}

#[divan::bench(args = SIZES)]
fn a_command(bencher: divan::Bencher<'_, '_>, tasks: Tasks) {
    decide(bencher, tasks, CALLS[2].0);
}
