//! Comparing what was expected with what came.

use serde_json::Value;

use crate::trial::Mismatch;

/// Holds `got` against `expected`: every key of an expected object must be there and match, lists must have the same
/// length, `null` means absent or null. An object with the only key `contains` wants those texts in a text.
#[must_use]
pub fn subset(place: &str, field: &str, expected: &Value, got: &Value) -> Vec<Mismatch> {
    let differs = || vec![Mismatch::new(place, field, expected.clone(), got.clone())];
    match (expected, got) {
        (Value::Object(wanted), Value::String(text)) if is_contains(wanted) => {
            let parts = wanted.get("contains").and_then(Value::as_array).into_iter().flatten();
            if parts.filter_map(Value::as_str).all(|part| text.contains(part)) { Vec::new() } else { differs() }
        }
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .flat_map(|(key, value)| subset(place, &join(field, key), value, found.get(key).unwrap_or(&Value::Null)))
            .collect(),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .flat_map(|(at, (wanted, found))| subset(place, &join(field, &at.to_string()), wanted, found))
            .collect(),
        _ if expected == got => Vec::new(),
        _ => differs(),
    }
}

fn is_contains(wanted: &serde_json::Map<String, Value>) -> bool {
    wanted.len() == 1 && wanted.get("contains").is_some_and(Value::is_array)
}

fn join(field: &str, key: &str) -> String {
    if field.is_empty() { key.into() } else { format!("{field}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(expected: &Value, got: &Value) -> Vec<String> {
        subset("here", "", expected, got).into_iter().map(|mismatch| mismatch.field).collect()
    }

    #[test]
    fn objects_are_subsets_and_lists_are_not() {
        assert_eq!(fields(&json!({"a": 1}), &json!({"a": 1, "b": 2})), Vec::<String>::new());
        assert_eq!(fields(&json!({"a": {"b": 1}}), &json!({"a": {"b": 2}})), ["a.b"]);
        assert_eq!(fields(&json!({"a": [1]}), &json!({"a": [1, 2]})), ["a"]);
        assert_eq!(fields(&json!({"a": [{"x": 1}]}), &json!({"a": [{"x": 2, "y": 1}]})), ["a.0.x"]);
    }

    #[test]
    fn null_means_absent_and_absent_means_null_only() {
        assert_eq!(fields(&json!({"a": null}), &json!({})), Vec::<String>::new());
        assert_eq!(fields(&json!({"a": 1}), &json!({})), ["a"]);
        assert_eq!(fields(&json!({"a": null}), &json!({"a": "x"})), ["a"]);
    }

    #[test]
    fn contains_looks_into_texts() {
        let wanted = json!({"reason": {"contains": ["apply", "preview"]}});
        assert_eq!(fields(&wanted, &json!({"reason": "apply_edit in the preview phase"})), Vec::<String>::new());
        assert_eq!(fields(&wanted, &json!({"reason": "apply_edit"})), ["reason"]);
    }
}
