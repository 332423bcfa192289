//! The validator agrees with a complete validator of JSON Schema, on documents and on mutations of them.

use std::path::Path;

use phasegate_schemas::{Kind, validate};
use serde_json::{Value, json};

/// Other values for every place of a document.
fn replacements() -> Vec<Value> {
    let digest = "0".repeat(64);
    let big = json!(4_294_967_296_u64);
    vec![json!(null), json!(true), json!(-1), json!(1.5), json!(2.0), big, json!(""), json!("x"), json!(digest)]
        .into_iter()
        .chain([json!([]), json!(["x"]), json!(["x", "x"]), json!(["x", "y", "z"]), json!({}), json!({"x": 1})])
        .collect()
}

/// Every document that one change makes: a value replaced, a key removed or added.
fn variants(document: &Value, into: &mut Vec<Value>) {
    let mut pointers = vec![String::new()];
    let mut at = 0;
    while let Some(pointer) = pointers.get(at).cloned() {
        at += 1;
        match document.pointer(&pointer) {
            Some(Value::Object(map)) => pointers.extend(map.keys().map(|key| format!("{pointer}/{}", escaped(key)))),
            Some(Value::Array(items)) => pointers.extend((0..items.len()).map(|index| format!("{pointer}/{index}"))),
            _ => {}
        }
    }
    for pointer in pointers {
        for value in replacements() {
            into.push(changed(document, &pointer, |place| *place = value));
        }
        if let Some(Value::Object(map)) = document.pointer(&pointer) {
            for key in map.keys() {
                into.push(changed(document, &pointer, |place| {
                    place.as_object_mut().and_then(|map| map.remove(key));
                }));
            }
            into.push(changed(document, &pointer, |place| place["no_such_key"] = json!(1)));
        }
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn changed(document: &Value, pointer: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut copy = document.clone();
    if let Some(place) = copy.pointer_mut(pointer) {
        change(place);
    }
    copy
}

#[test]
fn events_are_valid_where_a_complete_validator_says_so() {
    let lines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/config/tests/cases/events.jsonl");
    let schema: Value = serde_json::from_str(Kind::Event.text()).unwrap();
    let complete = jsonschema::draft202012::new(&schema).unwrap();
    let mut documents = Vec::new();
    for line in std::fs::read_to_string(lines).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        variants(&event, &mut documents);
    }
    compare(Kind::Event, &complete, &documents);
}

#[test]
fn configs_are_valid_where_a_complete_validator_says_so() {
    let texts =
        [(Kind::Skill, include_str!("cases/skill.json")), (Kind::Settings, include_str!("cases/settings.json"))];
    for (kind, text) in texts {
        let schema: Value = serde_json::from_str(kind.text()).unwrap();
        let complete = jsonschema::draft202012::new(&schema).unwrap();
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(validate(kind, &document), [], "{kind:?}");
        let mut documents = Vec::new();
        variants(&document, &mut documents);
        compare(kind, &complete, &documents);
    }
}

fn compare(kind: Kind, complete: &jsonschema::Validator, documents: &[Value]) {
    let invalid = documents.iter().filter(|document| !complete.is_valid(document)).count();
    assert!(invalid > 100 && invalid < documents.len(), "{invalid} of {}", documents.len());
    for document in documents {
        let found = validate(kind, document);
        assert_eq!(found.is_empty(), complete.is_valid(document), "{kind:?} {document}: {found:?}");
    }
}
