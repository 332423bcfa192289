//! One decision in process, with two shipped skills live that both keep the agent from stopping.

use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_core::events::event::By;
use phasegate_core::{Event, EventKind, FactValue, Facts, Policy, State, step};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const SKILLS: [&str; 2] = ["test-first", "release"];

/// A call, and what was read of it.
const CALLS: [(&str, &str); 3] = [
    (
        "an edit that is allowed",
        r#"{"tool": "Edit", "input": {"file_path": "tests/a.rs"},
            "reading": {"paths": [{"written": "tests/a.rs", "resolved": "tests/a.rs", "access": "write"}]}}"#,
    ),
    (
        "an edit that is denied",
        r#"{"tool": "Edit", "input": {"file_path": "src/a.rs"},
            "reading": {"paths": [{"written": "src/a.rs", "resolved": "src/a.rs", "access": "write"}]}}"#,
    ),
    (
        "a command",
        r#"{"tool": "Bash", "input": {"command": "cargo test"},
            "reading": {"commands": [{"words": [{"known": "cargo"}, {"known": "test"}], "span": [0, 10],
            "verdict": "execute", "status": "own"}]}}"#,
    ),
];

fn policy() -> Policy {
    let text = format!("use: [{}]\n", SKILLS.join(", "));
    let settings = SourceFile { path: "config.yaml".into(), text, level: Level::Project, kind: Kind::Settings };
    let compiled = compile(&[settings]);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    compiled.policy
}

/// The state after an event, with all facts that it needs known.
fn after(policy: &Policy, state: &State, event: &Event) -> (State, Facts) {
    let mut facts = Facts::new();
    loop {
        let outcome = step(policy, state, event, &facts);
        if outcome.needs.is_empty() {
            return (outcome.state_after(state), facts);
        }
        facts.extend(outcome.needs.into_iter().map(|key| (key, FactValue::Known(json!("digest")).into())));
    }
}

#[divan::bench(args = CALLS.map(|(name, _)| name))]
fn two_live_runs(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (_, call) = CALLS.into_iter().find(|(other, _)| *other == name).unwrap_or_default();
    let policy = policy();
    let mut state = State::default();
    for name in SKILLS {
        let kind = EventKind::Skill { name: name.into(), args: None, by: By::Agent };
        state = after(&policy, &state, &Event::new("s", kind)).0;
    }
    assert_eq!(state.live_runs().count(), SKILLS.len());
    let mut call: Value = serde_json::from_str(call).unwrap_or_default();
    if let Some(fields) = call.as_object_mut() {
        fields.insert("event".into(), json!("tool_call"));
    }
    let call = Event::from_value(call).unwrap_or_else(|problem| unreachable!("{problem}"));
    let (_, facts) = after(&policy, &state, &call);
    bencher.bench_local(|| step(&policy, &state, &call, &facts));
}
