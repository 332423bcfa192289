//! Whether a message is as a case says.

use serde_json::Value;

/// Whether the value is as expected. Objects are subsets, lists are whole, `null` means absent;
/// `{"contains": [...]}` looks into a text, `{"without": [...]}` says what it does not hold.
pub(crate) fn fits(expected: &Value, value: Option<&Value>) -> bool {
    match (expected, value) {
        (Value::Null, None | Some(Value::Null)) => true,
        (Value::Object(fields), Some(value)) if fields.contains_key("contains") || fields.contains_key("without") => {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            let words = |key: &str| fields.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let holds = |word: &Value| text.contains(word.as_str().unwrap());
            words("contains").iter().all(holds) && !words("without").iter().any(holds)
        }
        (Value::Object(fields), Some(value)) => fields.iter().all(|(key, expected)| fits(expected, value.get(key))),
        (Value::Array(items), Some(Value::Array(values))) => {
            items.len() == values.len() && items.iter().zip(values).all(|(item, value)| fits(item, Some(value)))
        }
        (expected, Some(value)) => expected == value,
        (_, None) => false,
    }
}
