//! A call under rules, from the event to the decision, and the rules as a hook loads them.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, missing_docs, reason = "a measurement")]

use phasegate_core::{Event, Facts, Policy, State, step};
use serde_json::{Value, json};

/// Measures. With `count CASE` it decides that call once, for `cargo xtask counts`.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["count", "100 rules"] => once(&text(100), 0),
        ["count", "200 rules, 10 facts"] => once(&with_facts(), 1),
        _ => divan::main(),
    }
}

fn once(text: &str, events: usize) {
    let policy: Policy = serde_json::from_str(text).unwrap();
    let state = after(&policy, events);
    drop(divan::black_box(step(&policy, &state, &call(), &Facts::new())));
}

/// `context.A.B OP VALUE`.
fn test(op: &str, path: &str, value: &Value) -> Value {
    json!({"of": [op, {"l": get(path), "r": value}]})
}

fn get(path: &str) -> Value {
    path.split('.').fold(json!({"var": "context"}), |of, name| json!({"get": [of, name]}))
}

/// The text of a policy with so many rules: four of five ask for words of commands, the others for paths. None decides.
fn text(rules: usize) -> String {
    let rule = |at: usize| {
        let text = |text: String| json!({"v": text});
        let when = if at.is_multiple_of(5) {
            let file = json!({"like": [get("path.file"), [format!("secret{at}"), null]]});
            json!({"t": [0, {"and": [{"has": [{"var": "context"}, "path"]}, file]}]})
        } else {
            json!({"t": [0, {"and": [
                test("==", "command.program", &text("git".into())),
                test("==", "command.subcommand", &text(format!("sub{at}"))),
                test("contains", "command.options", &text(format!("--o{at}"))),
            ]}]})
        };
        let action = if at.is_multiple_of(5) { json!("any") } else { json!({"is": "Bash"}) };
        json!({"id": format!("rule-{at:03}"), "forbids": "deny", "reason": "it is so", "action": action, "when": when})
    };
    let all: Vec<Value> = (0..rules).map(rule).collect();
    let levels = json!([{"rules": {"default": "permit", "rules": all}}]);
    let levels = if rules == 0 { json!(null) } else { levels };
    json!({"version": "v", "skills": [], "rules": levels}).to_string()
}

fn call() -> Event {
    let command = |words: &[&str]| {
        let words: Vec<Value> = words.iter().map(|word| json!({"known": word})).collect();
        json!({"words": words, "span": [0, 0], "verdict": "write"})
    };
    let path = json!({"written": "src/main.rs", "resolved": "src/main.rs", "access": "read", "command": 0});
    let reading = json!({
        "commands": [command(&["cat", "src/main.rs"]), command(&["git", "push", "origin", "main", "-v"])],
        "paths": [path],
    });
    let labels = ["write", "execute", "shell"];
    Event::from_value(json!({"event": "tool_call", "tool": "Bash", "input": {"command": "cat src/main.rs && git push"},
        "labels": labels, "reading": reading}))
    .unwrap()
}

#[divan::bench(args = [0, 100, 200])]
fn decides(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let policy: Policy = serde_json::from_str(&text(rules)).unwrap();
    let (state, call) = (State::default(), call());
    assert!(step(&policy, &state, &call, &Facts::new()).decision.unwrap().lets_through());
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

#[divan::bench(args = [0, 100, 200])]
fn loads(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let text = text(rules);
    bencher.bench_local(|| serde_json::from_str::<Policy>(divan::black_box(&text)).is_ok());
}

/// The text of a policy with 190 rules that read no facts, and ten that do.
fn with_facts() -> String {
    let mut policy: Value = serde_json::from_str(&text(190)).unwrap();
    let (mut rules, mut facts) = (Vec::new(), Vec::new());
    for number in 0..10 {
        let key = number.to_string();
        let does = json!({"get": [{"get": [{"var": "context"}, "command"]}, "does"]});
        let pushes = json!({"t": [0, {"of": ["contains", {"l": does, "r": {"v": "push"}}]}]});
        let fresh = json!({"get": [{"get": [{"var": "context"}, "facts"]}, "fresh"]});
        rules.push(json!({"id": format!("tests/{key}"), "forbids": "deny", "when": {"and": [pushes, {"not": fresh}]},
            "facts": {"fresh": key}}));
        facts.push(
            json!({"key": key, "asks": {"passed": {"unchanged": true}}, "scope": "project", "within": 86_400_000}),
        );
    }
    let level = &mut policy["rules"][0];
    level["rules"]["rules"].as_array_mut().unwrap().extend(rules);
    level["facts"] = json!(facts);
    policy.to_string()
}

/// Tests that passed, so many times, each after a change.
fn after(policy: &Policy, events: usize) -> State {
    let tests = json!({"words": [{"known": "cargo"}, {"known": "test"}], "span": [0, 10], "verdict": "execute",
        "status": "own", "tests": {"runner": "cargo", "whole": true}});
    let mut state = State::default();
    for number in 0..events {
        let time = number * 1000;
        for event in [
            json!({"event": "tool_call", "id": "e", "tool": "Edit", "input": {"file_path": "a.rs"}, "time": time}),
            json!({"event": "tool_result", "id": "e", "ok": true, "time": time}),
            json!({"event": "tool_call", "id": "t", "tool": "Bash", "input": {"command": "cargo test"}, "time": time,
                "reading": {"commands": [tests]}}),
            json!({"event": "tool_result", "id": "t", "ok": true, "exit_code": 0, "time": time,
                "tests": [{"runner": "cargo", "passed": 3}]}),
        ] {
            let event = Event::from_value(event).unwrap();
            state = step(policy, &state, &event, &Facts::new()).state_after(&state);
        }
    }
    state
}

/// The call asks all ten facts: `git push` is a part of it.
#[divan::bench(args = [1, 1_000])]
fn decides_with_facts(bencher: divan::Bencher<'_, '_>, events: usize) {
    let policy: Policy = serde_json::from_str(&with_facts()).unwrap();
    let (state, call) = (after(&policy, events), call());
    assert!(step(&policy, &state, &call, &Facts::new()).decision.unwrap().lets_through());
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}
