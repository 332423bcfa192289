//! What the cases must show together. That each comes out as written is the conformance suite's to say.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::cases::{adapter, case, entries, recordings};

/// What each version's recordings must show: every event that stands for something, and every way a call can end.
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

/// Every reply is empty, or one line with one object whose keys the extension knows. A denial also has its exit status,
/// and a question is a denial if no person can be asked.
#[test]
fn the_extension_can_honour_every_reply() {
    let extension = phasegate_pi::extension("phasegate", phasegate_core::policy::Mode::Block);
    let all = fs::read_to_string(case("encode.jsonl")).unwrap();
    assert!(!all.is_empty());
    for case in all.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let name = &case["case"];
        let text = |key: &str| case["reply"][key].as_str().unwrap();
        let (stdout, stderr, status) = (text("stdout"), text("stderr"), case["reply"]["status"].as_u64().unwrap());
        let output: Value = if stdout.is_empty() { Value::Null } else { serde_json::from_str(stdout).unwrap() };
        assert!(stdout.is_empty() || (stdout.matches('\n').count() == 1 && stdout.ends_with('\n')), "{name}");
        for key in output.as_object().into_iter().flat_map(serde_json::Map::keys) {
            let known = [format!("text(\"{key}\")"), format!("reply?.{key}"), format!("reply?.{key} ")];
            assert!(key == "deny" || known.iter().any(|way| extension.contains(way)), "{name}: {key}");
        }
        let denies = output["deny"].as_str().is_some_and(|text| !text.is_empty());
        assert_eq!((denies, stderr), (status == 2, ""), "{name}");
        assert!(output["ask"].is_null() || output["ask"] == output["deny"], "{name}");
    }
}

/// Every event that the extension sends is one that the adapter knows, and all of them were recorded.
#[test]
fn every_event_that_is_subscribed_was_recorded() {
    let extension = phasegate_pi::extension("phasegate", phasegate_core::policy::Mode::Block);
    let subscribed: BTreeSet<&str> =
        extension.split("pi.on(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let recorded: BTreeSet<String> = recordings()
        .into_values()
        .flatten()
        .filter_map(|frame| {
            let frame: Value = serde_json::from_str(&frame).ok()?;
            frame["event"]["type"].as_str().map(str::to_owned)
        })
        .collect();
    let sent = subscribed.iter().filter(|event| **event != "before_agent_start");
    let missing: Vec<_> = sent.filter(|event| !recorded.contains(**event)).collect();
    assert!(missing.is_empty() && subscribed.len() > 5, "{missing:?}");
}
