//! A key that may be left out is not a key that may be `null`: the schemas say so.

use serde_json::Value;

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
