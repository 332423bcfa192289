//! How much text a session of 50 calls puts into the agent's context.
//!
//! The first line of `tests/session.jsonl` has the figures, each other line a message of the client. What would follow a
//! denied call is left out. `PHASEGATE_BLESS=1` writes the figures anew.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

#[test]
fn golden_a_session_of_fifty_calls_is_told_what_changed_once() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/session.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [test-first]\n");
    let (mut calls, mut injected, mut denied, mut texts, mut denials) = (0, 0, 0, 0, 0);
    let mut refused = BTreeSet::new();
    for line in &lines[1..] {
        let (event, id) = (line["event"].as_str().unwrap(), line["tool_use_id"].as_str());
        calls += usize::from(event == "PreToolUse");
        if event != "PreToolUse" && id.is_some_and(|id| refused.contains(id)) {
            continue;
        }
        let output = world.frame("one", event, line.clone());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let specific = &answer["hookSpecificOutput"];
        let context = specific["additionalContext"].as_str().unwrap_or_default().chars().count();
        injected += context;
        texts += usize::from(context > 0);
        if let Reply::Denied(_) = reply(&output) {
            refused.insert(id.unwrap());
            denied += specific["permissionDecisionReason"].as_str().unwrap().chars().count();
            denials += 1;
        }
    }
    let figures = json!({
        "about": lines[0]["about"], "calls": calls, "injected": injected, "texts": texts, "denied": denied,
        "denials": denials,
    });
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        lines[0] = figures;
        fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    } else {
        assert_eq!(lines[0], figures);
    }
}
