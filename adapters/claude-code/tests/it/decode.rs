//! Recorded frames to neutral events: `recordings/VERSION/SCENARIO.jsonl` to `decode/VERSION/SCENARIO.golden.jsonl`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use phasegate_adapter::{Frame, Memory};
use phasegate_core::Event;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::cases::{adapter, bless, blessing, case, entries, mismatch, recordings, sorted};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Provenance {
    recording: Vec<Recording>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    file: String,
    client: String,
    sha256: String,
    driver: String,
    driver_sha256: String,
    script: Option<String>,
    script_sha256: Option<String>,
}

/// What the frames of a recording stand for, a line a frame.
fn decoded(name: &str, frames: &[Vec<u8>]) -> Vec<Value> {
    let mut memories: BTreeMap<String, Memory> = BTreeMap::new();
    let mut lines = Vec::new();
    for (number, bytes) in frames.iter().enumerate() {
        let frame = Frame::new(bytes.clone());
        let address = adapter().address(&frame).unwrap_or_else(|e| panic!("{name}:{}: {e}", number + 1));
        let memory = memories.entry(address.session.clone()).or_default();
        let decoded = adapter().decode(&frame, memory).unwrap_or_else(|e| panic!("{name}:{}: {e}", number + 1));
        assert!(decoded.events.iter().all(|event| event.session == address.session), "{name}:{}", number + 1);
        for event in &decoded.events {
            assert_eq!(Event::from_value(event.to_value()).as_ref(), Ok(event), "{name}:{}", number + 1);
        }
        *memory = decoded.memory.clone();
        let events: Vec<Value> = decoded.events.iter().map(Event::to_value).collect();
        lines.push(json!({"hook": address.event, "events": events, "memory": decoded.memory}));
    }
    lines
}

#[test]
fn every_recorded_frame_decodes_as_expected() {
    let mut expected: BTreeSet<_> = BTreeSet::new();
    for (name, frames) in recordings() {
        let path = case(&format!("decode/{name}.golden.jsonl"));
        expected.insert(path.clone());
        let lines = decoded(&name, &frames);
        if blessing() {
            let text: String = lines.iter().map(|line| format!("{}\n", sorted(line))).collect();
            bless(&path, &text);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}", mismatch(&path, &e.to_string())));
        let wanted: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(wanted.len(), lines.len(), "{}", mismatch(&path, "another number of frames"));
        for (number, (wanted, line)) in wanted.iter().zip(&lines).enumerate() {
            assert_eq!(wanted, line, "{}", mismatch(&path, &format!("frame {}", number + 1)));
        }
    }
    let found: BTreeSet<_> = entries(&case("decode")).iter().flat_map(|version| entries(version)).collect();
    assert_eq!(found, expected, "an expectation without a recording");
}

#[test]
fn every_recording_says_where_it_comes_from() {
    let text = fs::read_to_string(case("provenance.toml")).unwrap();
    let provenance: Provenance = toml::from_str(&text).unwrap();
    let digest = |path: &str| -> String {
        let bytes = fs::read(case(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let mut scripts = BTreeSet::new();
    for recording in &provenance.recording {
        let file = &recording.file;
        assert!(adapter().versions().contains(&recording.client.as_str()), "{file}: another client");
        assert!(file.starts_with(&format!("{}/", recording.client)), "{file}: in the folder of another client");
        assert_eq!(recording.sha256, digest(&format!("recordings/{file}")), "{file}: was changed");
        assert!(recording.driver_sha256.len() == 64 && !recording.driver.is_empty(), "{file}: no driver");
        assert_eq!(recording.script_sha256, recording.script.as_deref().map(digest), "{file}: its script was changed");
        scripts.extend(recording.script.clone());
    }
    let named: BTreeSet<String> = provenance.recording.iter().map(|recording| recording.file.clone()).collect();
    let found: BTreeSet<String> = recordings().keys().map(|name| format!("{name}.jsonl")).collect();
    assert_eq!(named, found);
    let found: BTreeSet<String> = entries(&case("scripts"))
        .iter()
        .map(|path| format!("scripts/{}", path.file_name().unwrap().display()))
        .collect();
    assert_eq!(scripts, found);
}

#[test]
fn recordings_are_scrubbed() {
    for (name, frames) in recordings() {
        for frame in frames {
            let text = String::from_utf8(frame).unwrap();
            for place in ["\"/tmp", "\"/home", "\"/root", "/Users/", "\"/work/", " /tmp", " /root", " /home"] {
                assert!(!text.contains(place), "{name}: {place} in {text}");
            }
        }
    }
}

/// What each version's recordings must show: every event we use, and every way a call can end.
#[test]
fn the_table_of_events_and_outcomes_is_full() {
    for version in adapter().versions() {
        let mut seen = BTreeSet::new();
        for (name, frames) in recordings().into_iter().filter(|(name, _)| name.starts_with(version)) {
            for line in decoded(&name, &frames) {
                for event in line["events"].as_array().unwrap() {
                    let detail = ["outcome", "source", "by"].iter().find_map(|key| event[key].as_str()).unwrap_or("-");
                    seen.insert(format!(
                        "{} {} {detail}",
                        line["hook"].as_str().unwrap(),
                        event["event"].as_str().unwrap()
                    ));
                }
            }
        }
        let table: Vec<&str> = include_str!("table.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| match line.split_once('@') {
                Some((row, only)) => (only.trim() == *version).then_some(row.trim()),
                None => Some(line.trim()),
            })
            .collect();
        let wanted: BTreeSet<String> = table.iter().map(ToString::to_string).collect();
        assert_eq!(seen, wanted, "{version}");
    }
}
