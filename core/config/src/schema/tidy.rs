//! A key that may be left out is not a key that may be `null`: the schemas say so.

use std::collections::BTreeSet;

use serde_json::Value;

/// Takes a key out of a type, and with it the types that only it needs.
pub(super) fn without_key(schema: &mut Value, of: &str, key: &str) {
    if let Some(properties) = schema.pointer_mut(&format!("/$defs/{of}/properties")).and_then(Value::as_object_mut) {
        properties.remove(key);
    }
    let Some(mut types) = schema.as_object_mut().and_then(|root| root.remove("$defs")) else { return };
    let mut used = BTreeSet::new();
    references(schema, &mut used);
    let mut new: Vec<String> = used.iter().cloned().collect();
    while let Some(name) = new.pop() {
        let mut more = BTreeSet::new();
        types.get(&name).into_iter().for_each(|inner| references(inner, &mut more));
        new.extend(more.into_iter().filter(|name| used.insert(name.clone())));
    }
    if let (Some(types), Some(root)) = (types.as_object_mut(), schema.as_object_mut()) {
        types.retain(|name, _| used.contains(name));
        root.insert("$defs".into(), Value::Object(core::mem::take(types)));
    }
}

/// The types that a schema names.
fn references(schema: &Value, used: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            let named = map.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            used.extend(named.map(str::to_string));
            map.values().for_each(|inner| references(inner, used));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, used)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes `null` out of what optional keys accept.
pub(super) fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                match (key.as_str(), inner) {
                    ("properties" | "$defs", Value::Object(named)) => named.values_mut().for_each(tidy),
                    ("enum" | "const" | "default", _) => {}
                    (_, inner) => tidy(inner),
                }
            }
            map.retain(|key, value| !(key == "default" && value.is_null()));
            without_null_type(map);
            without_null_choice(map);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn without_null_type(map: &mut serde_json::Map<String, Value>) {
    let Some(Value::Array(types)) = map.get_mut("type") else { return };
    types.retain(|kind| kind != "null");
    if let [only] = types.as_slice() {
        let only = only.clone();
        map.insert("type".into(), only);
    }
}

fn without_null_choice(map: &mut serde_json::Map<String, Value>) {
    let Some(Value::Array(choices)) = map.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    if let [only] = choices.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        if let Value::Object(only) = only {
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
}
