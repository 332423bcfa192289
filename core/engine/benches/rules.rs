//! A call under rules, from the event to the decision, and the rules as a hook loads them.
#![allow(clippy::unwrap_used, missing_docs, reason = "a measurement")]

use phasegate_core::{Event, Facts, Policy, State, step};
use serde_json::{Value, json};

fn main() {
    divan::main();
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
