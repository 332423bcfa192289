//! JSON Schemas of artifacts: complete ones, as authors write them. Configs themselves are held against `phasegate-schemas`.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The most characters of what is wrong with a document.
const MAX_CHARS: usize = 160;

/// A JSON Schema that documents can be held against.
#[derive(Debug)]
pub struct JsonSchema(Validator);

impl JsonSchema {
    /// Reads a schema. It may refer to parts of itself, and to nothing else: no address is asked for.
    ///
    /// # Errors
    ///
    /// The text says why it is no JSON Schema.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        options.build(schema).map(Self).map_err(|error| cut(&error.to_string()))
    }

    /// The first thing in which a document differs from the schema, with its place. No value of the document is told.
    pub fn fault(&self, document: &Value) -> Option<String> {
        let error = self.0.iter_errors(document).next()?;
        let place = error.instance_path().as_str();
        let place = if place.is_empty() { "the document".to_owned() } else { format!("`{}`", cut(place)) };
        Some(format!("{place}: {}", cut(&error.masked().to_string())))
    }
}

fn cut(text: &str) -> String {
    let plain: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match plain.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", plain.get(..end).unwrap_or_default()),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_is_told_with_its_place_and_without_values() {
        let schema = JsonSchema::new(&json!({
            "type": "object",
            "required": ["tasks"],
            "properties": {"tasks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/task"}}},
            "$defs": {"task": {"type": "object", "required": ["id"], "properties": {"id": {"pattern": "^T[0-9]+$"}}}},
        }))
        .unwrap();
        assert_eq!(schema.fault(&json!({"tasks": [{"id": "T1"}]})), None);
        let fault = |document: Value| schema.fault(&document).unwrap();
        assert_eq!(fault(json!({})), r#"the document: "tasks" is a required property"#);
        assert!(fault(json!({"tasks": []})).starts_with("`/tasks`: "));
        let secret = fault(json!({"tasks": [{"id": "secret-1"}]}));
        assert!(secret.starts_with("`/tasks/0/id`: ") && !secret.contains("secret"), "{secret}");
        let long = fault(json!({"tasks": [{"id": "x".repeat(5000)}]}));
        assert!(long.len() < 400, "{long}");
    }

    #[test]
    fn a_schema_refers_to_nothing_outside() {
        assert!(JsonSchema::new(&json!({"type": "objekt"})).is_err());
        assert!(JsonSchema::new(&json!({"$ref": "https://example.com/a.json"})).is_err());
        assert!(JsonSchema::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }
}
