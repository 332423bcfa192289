//! Decisions to the exact bytes that the client must get: `encode/*.json`.

use std::collections::BTreeSet;
use std::fs;

use phasegate_adapter::{Frame, Problem, Reply};
use phasegate_core::state::Obligation;
use phasegate_core::{Code, Decision, State, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cases::{adapter, bless, blessing, case, entries, mismatch, recordings};

/// A case as written. Exactly one of `steps`, `refuse` and `warn` is given.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    frame: Source,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<Told>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refuse: Option<Trouble>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warn: Option<Trouble>,
    #[serde(default)]
    reply: Bytes,
}

/// A frame: one of a recording, by its number from 1, or literal text.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Source {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recording: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What a step said.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Told {
    decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    obligations: Vec<Obligation>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Trouble {
    code: Code,
    message: String,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    stdout: String,
    stderr: String,
    status: u8,
}

impl Source {
    fn frame(&self) -> Frame {
        match (&self.recording, self.line, &self.text) {
            (Some(name), Some(line), None) => Frame::new(recordings()[name][line - 1].clone()),
            (None, None, Some(text)) => Frame::new(text.as_bytes()),
            _ => panic!("a frame is a line of a recording or a text"),
        }
    }
}

fn reply(case: &Case) -> Reply {
    let frame = case.frame.frame();
    let problem = |trouble: &Trouble| Problem::new(trouble.code, trouble.message.clone());
    match (&case.steps, &case.refuse, &case.warn) {
        (Some(steps), None, None) => {
            let step = |told: &Told| Step {
                decision: told.decision.clone(),
                state: State::default(),
                records: Vec::new(),
                obligations: told.obligations.clone(),
                result: None,
                needs: Vec::new(),
            };
            adapter().encode(&frame, &steps.iter().map(step).collect::<Vec<_>>())
        }
        (None, Some(trouble), None) => adapter().refuse(&frame, &problem(trouble)),
        (None, None, Some(trouble)) => adapter().warn(&frame, &problem(trouble)),
        _ => panic!("{}: exactly one of steps, refuse and warn", case.name),
    }
}

#[test]
fn every_reply_is_as_expected() {
    let mut names = BTreeSet::new();
    for path in entries(&case("encode")) {
        let text = fs::read_to_string(&path).unwrap();
        let mut case: Case = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(names.insert(case.name.clone()), "{}: the name is taken", path.display());
        let reply = reply(&case);
        let bytes = Bytes {
            stdout: String::from_utf8(reply.stdout).unwrap(),
            stderr: String::from_utf8(reply.stderr).unwrap(),
            status: reply.status,
        };
        honoured(&case.frame, &bytes);
        if blessing() {
            case.reply = bytes;
            bless(&path, &(serde_json::to_string_pretty(&case).unwrap() + "\n"));
        } else {
            assert_eq!(case.reply, bytes, "{}", mismatch(&path, "another reply"));
        }
    }
    assert!(!names.is_empty());
}

/// What holds for every reply: at most one line of JSON on stdout, naming the event asked about; never an explicit allow.
fn honoured(source: &Source, bytes: &Bytes) {
    if bytes.stdout.is_empty() {
        assert_eq!((bytes.stderr.as_str(), bytes.status), ("", 0));
        return;
    }
    assert_eq!(bytes.stdout.matches('\n').count(), 1);
    let output: Value = serde_json::from_str(&bytes.stdout).unwrap();
    let specific = &output["hookSpecificOutput"];
    if let Some(named) = specific["hookEventName"].as_str()
        && let Ok(address) = adapter().address(&source.frame())
    {
        assert_eq!(named, address.event);
    }
    assert_ne!(specific["permissionDecision"], "allow");
    let refuses = output["decision"] == "block"
        || specific["permissionDecision"] == "deny"
        || specific["decision"]["behavior"] == "deny";
    assert_eq!((refuses, !bytes.stderr.is_empty()), (bytes.status == 2, bytes.status == 2), "{}", bytes.stdout);
}

/// Every hook event has a case that refuses and a case that warns.
#[test]
fn every_event_has_a_refusal_and_a_warning() {
    let mut seen: BTreeSet<(String, &str)> = BTreeSet::new();
    for path in entries(&case("encode")) {
        let case: Case = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        if let Ok(address) = adapter().address(&case.frame.frame()) {
            let kind = if case.refuse.is_some() {
                "refuse"
            } else if case.warn.is_some() {
                "warn"
            } else {
                "encode"
            };
            seen.insert((address.event, kind));
        }
    }
    for event in [
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
    ] {
        for kind in ["refuse", "warn", "encode"] {
            assert!(seen.contains(&(event.to_string(), kind)), "no case of kind {kind} for {event}");
        }
    }
}
