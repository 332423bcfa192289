//! What the recordings and the cases must show together. That each comes out as written is the conformance suite's to say.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::cases::{adapter, case, entries};

/// What the recordings of each version must show: every hook and telling that means something, and every way a call ends.
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
        let wanted: BTreeSet<String> = rows.map(str::to_owned).collect();
        assert_eq!(seen, wanted, "{version}");
    }
}

/// What holds for every reply: nothing, or one line of JSON; a denial is told by it and by the exit status.
#[test]
fn the_plugin_can_honour_every_reply() {
    let cases = fs::read_to_string(case("encode.jsonl")).unwrap();
    assert!(!cases.is_empty());
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let name = &case["case"];
        let (stdout, status) = (case["reply"]["stdout"].as_str().unwrap(), case["reply"]["status"].as_u64().unwrap());
        assert_eq!(case["reply"]["stderr"], "", "{name}");
        if stdout.is_empty() {
            assert_eq!(status, 0, "{name}");
            continue;
        }
        assert_eq!(stdout.matches('\n').count(), 1, "{name}");
        let mut output: Value = serde_json::from_str(stdout).unwrap();
        let ends = output.as_object_mut().unwrap().remove("ends");
        assert!(ends.is_none_or(|ends| ends == true && output["deny"].is_string()), "{name}");
        let known = ["deny", "context", "tell"];
        assert!(output.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{name}");
        assert!(output.as_object().unwrap().values().all(|text| !text.as_str().unwrap().is_empty()));
        assert_eq!(output["deny"].is_string(), status == 2, "{name}");
    }
}
