//! The source `elements`: the list of objects at one place of each JSON file that patterns select.

use phasegate_core::FactValue;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::listing;
use super::source::{FactSource, World};

/// The source.
pub(super) struct Elements;

/// What is asked of the files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Paths with `*`, `?`, `**` and `{a,b}`, relative to the root of the project.
    pub(crate) paths: Vec<String>,
    /// The JSON pointer to the list.
    at: String,
    /// The fields of an object that are told.
    fields: Vec<String>,
}

impl FactSource for Elements {
    const NAME: &'static str = "elements";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        let found = listing::each(world.root, &arguments.paths, &|bytes| arguments.of(bytes));
        found.map_or(FactValue::Unknown, |files| FactValue::Known(json!(files)))
    }
}

impl Arguments {
    /// The objects in a file, each with the fields that are asked for; `null` if it is not JSON with a list of objects
    /// there.
    pub(crate) fn of(&self, bytes: &[u8]) -> Value {
        let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return Value::Null };
        let Some(listed) = document.pointer(&self.at).and_then(Value::as_array) else { return Value::Null };
        let part = |one: &Value| {
            let fields = one.as_object()?;
            let told = self.fields.iter().filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
            Some(Value::Object(told.collect::<Map<_, _>>()))
        };
        listed.iter().map(part).collect::<Option<Vec<_>>>().map_or(Value::Null, Value::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_fields_that_are_asked_for() {
        let arguments = Arguments { paths: Vec::new(), at: "/tasks".into(), fields: vec!["id".into()] };
        let found = arguments.of(br#"{"tasks": [{"id": "T1", "text": "long"}, {"wave": 2}]}"#);
        assert_eq!(found, json!([{"id": "T1"}, {}]));
        for bytes in ["", "[]", r#"{"tasks": {}}"#, r#"{"tasks": ["T1"]}"#, "{'tasks': []}"] {
            assert_eq!(arguments.of(bytes.as_bytes()), Value::Null, "{bytes}");
        }
    }
}
