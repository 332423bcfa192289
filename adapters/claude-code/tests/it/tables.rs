//! What the cases must show together. That each comes out as written is the conformance suite's to say.

use std::collections::BTreeSet;
use std::fs;

use phasegate_adapter::Frame;
use serde_json::Value;

use super::cases::{adapter, case, entries, open, recordings};

/// The events whose answers the client looks at.
const ANSWERED: [&str; 14] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PermissionRequest",
    "ConfigChange",
];

fn replies() -> Vec<Value> {
    let cases = fs::read_to_string(case("encode.jsonl")).unwrap();
    cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The client's word for what a case's frame is about; `None` where the frame cannot be read.
fn event(case: &Value) -> Option<String> {
    let source = &case["frame"];
    let bytes = match source["recording"].as_str() {
        Some(name) => recordings()[name][usize::try_from(source["line"].as_u64().unwrap()).unwrap() - 1].clone(),
        None => source["text"].as_str().unwrap().as_bytes().to_vec(),
    };
    open(&Frame::new(bytes)).ok().map(|message| message.event)
}

/// What each version's recordings must show: every event we use, and every way a call can end.
#[test]
fn the_table_of_events_and_outcomes_is_full() {
    for version in adapter().diagnostics().versions() {
        let mut seen = BTreeSet::new();
        for golden in entries(&case(&format!("decode/{version}"))) {
            for line in fs::read_to_string(golden).unwrap().lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                for event in line["events"].as_array().unwrap() {
                    let detail = ["outcome", "source", "by"].iter().find_map(|key| event[key].as_str()).unwrap_or("-");
                    let (hook, event) = (line["hook"].as_str().unwrap(), event["event"].as_str().unwrap());
                    seen.insert(format!("{hook} {event} {detail}"));
                }
            }
        }
        let rows = include_str!("table.txt").lines().filter(|line| !line.starts_with('#'));
        let wanted: BTreeSet<String> = rows
            .filter_map(|line| match line.split_once('@') {
                Some((row, only)) => (only.trim() == version).then(|| row.trim().to_string()),
                None => Some(line.trim().to_string()),
            })
            .collect();
        assert_eq!(seen, wanted, "{version}");
    }
}

/// What holds for every reply: at most one line of JSON on stdout, naming the event asked about; never an explicit allow;
/// a refusal ends with status 2. An agent that is kept from stopping did nothing wrong: its reply ends with 0.
#[test]
fn the_client_can_honour_every_reply() {
    let all = replies();
    assert!(!all.is_empty());
    for case in all {
        let text = |key: &str| case["reply"][key].as_str().unwrap();
        let (stdout, stderr, status) = (text("stdout"), text("stderr"), case["reply"]["status"].as_u64().unwrap());
        if stdout.is_empty() {
            assert_eq!((stderr, status), ("", 0), "{}", case["name"]);
            continue;
        }
        assert_eq!(stdout.matches('\n').count(), 1, "{}", case["name"]);
        let output: Value = serde_json::from_str(stdout).unwrap();
        let specific = &output["hookSpecificOutput"];
        if let (Some(named), Some(event)) = (specific["hookEventName"].as_str(), event(&case)) {
            assert_eq!(named, event, "{}", case["name"]);
        }
        assert_ne!(specific["permissionDecision"], "allow", "{}", case["name"]);
        let refuses = output["decision"] == "block"
            || specific["permissionDecision"] == "deny"
            || specific["decision"]["behavior"] == "deny";
        let refuses = refuses && !matches!(event(&case).as_deref(), Some("Stop" | "SubagentStop"));
        assert_eq!((refuses, !stderr.is_empty()), (status == 2, status == 2), "{}", case["name"]);
    }
}

/// Every event that we are asked about has a case that decides, one that refuses and one that warns.
#[test]
fn every_event_has_a_refusal_and_a_warning() {
    let mut seen: BTreeSet<(String, &str)> = BTreeSet::new();
    let all = replies();
    for case in &all {
        let kind = ["steps", "refuse", "warn"].into_iter().find(|kind| !case[kind].is_null()).unwrap();
        seen.extend(event(case).map(|event| (event, kind)));
    }
    for event in ANSWERED {
        for kind in ["steps", "refuse", "warn"] {
            assert!(seen.contains(&(event.to_string(), kind)), "no case of kind {kind} for {event}");
        }
    }
}
