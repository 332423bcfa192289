//! The schemas: as generated, complete, and in agreement with the engine's own events.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use phasegate_core::Event;
use phasegate_schemas::{Kind, ProblemKind, validate};
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_files_are_as_generated() {
    for (name, schema) in phasegate_config::schema::all() {
        let text = fs::read_to_string(root().join("schemas").join(name)).unwrap();
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written, schema, "schemas/{name}: `cargo xtask gen` writes it anew");
    }
}

#[test]
fn the_schemas_are_schemas() {
    for kind in Kind::ALL {
        let schema: Value = serde_json::from_str(kind.text()).unwrap();
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{kind:?}");
        assert_eq!(schema["$id"], format!("https://phasegate.dev/schemas/{}.schema.json", kind.word()));
    }
}

/// Every key that a schema knows, anywhere.
fn keys(schema: &Value, into: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        into.extend(properties.keys().cloned());
        for (key, property) in properties {
            assert!(
                property.get("description").is_some() || property.get("const").is_some(),
                "{key} has no description"
            );
        }
    }
    match schema {
        Value::Object(map) => map.values().for_each(|inner| keys(inner, into)),
        Value::Array(items) => items.iter().for_each(|inner| keys(inner, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_exhaustive_configs_have_every_key_of_the_schemas() {
    for (kind, file) in [(Kind::Skill, "exhaustive.yaml"), (Kind::Settings, "all.settings.yaml")] {
        let text = fs::read_to_string(root().join("core/config/tests/cases/valid").join(file)).unwrap();
        let mut known = BTreeSet::new();
        let mut schema: Value = serde_json::from_str(kind.text()).unwrap();
        // What settings say of a program is in the form of the shipped table, and shown there.
        for name in ["Rule", "Wraps"] {
            schema["$defs"].as_object_mut().unwrap().remove(name);
        }
        keys(&schema, &mut known);
        // What settings say of a matcher is the same as in a skill, and shown there.
        let matcher_keys = [
            "adds",
            "args",
            "agent",
            "begins",
            "contains",
            "does",
            "executes",
            "heading",
            "min_words",
            "one_of",
            "present",
            "reads",
            "section",
            "server",
            "skill",
            "starts",
            "writes",
        ];
        for key in known.iter().filter(|key| kind == Kind::Skill || !matcher_keys.contains(&key.as_str())) {
            assert!(text.contains(&format!("{key}:")), "{file} has no `{key}`");
        }
    }
}

/// Every event of a transcript, with every field that it can have.
const EVENTS: &str = include_str!("../cases/events.jsonl");

#[test]
fn every_event_of_the_engine_is_valid_with_every_field() {
    let schema: Value = serde_json::from_str(Kind::Event.text()).unwrap();
    let mut unseen: BTreeSet<(String, String)> = BTreeSet::new();
    for event in schema["oneOf"].as_array().unwrap() {
        let name = event["properties"]["event"]["const"].as_str().unwrap();
        let fields = event["properties"].as_object().unwrap().keys();
        unseen.extend(fields.map(|field| (name.to_string(), field.clone())));
    }
    for line in EVENTS.lines() {
        let written: Value = serde_json::from_str(line).unwrap();
        let event = Event::from_value(written.clone()).unwrap_or_else(|error| panic!("{line}: {error}"));
        let value = event.to_value();
        assert_eq!(validate(Kind::Event, &value), [], "{line}");
        assert_eq!(written, value, "the engine knows every field");
        for field in value.as_object().unwrap().keys() {
            unseen.remove(&(event.name().to_string(), field.clone()));
        }
    }
    // The fields that all events share are shown once.
    let shared = ["agent", "cwd", "permission_mode", "principal", "session", "stated", "time"];
    unseen.retain(|(name, field)| name == "idle" || !shared.contains(&field.as_str()));
    assert_eq!(unseen, BTreeSet::new(), "cases/events.jsonl shows every field of every event");
}

#[test]
fn an_event_that_the_engine_refuses_is_invalid() {
    let stranger = json!({"event": "idle", "mood": "bored"});
    assert!(Event::from_value(stranger.clone()).is_err());
    assert!(
        matches!(validate(Kind::Event, &stranger)[0].kind, ProblemKind::UnknownKey { ref key, .. } if key == "mood")
    );
    let unknown = json!({"event": "sleep"});
    assert!(Event::from_value(unknown.clone()).is_err());
    let problems = validate(Kind::Event, &unknown);
    assert_eq!(problems[0].pointer, ["event"]);
    assert!(matches!(&problems[0].kind, ProblemKind::NotOneOf(names) if names.len() == 20));
}
