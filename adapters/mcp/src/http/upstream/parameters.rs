//! Which arguments of a call headers repeat: `x-mcp-header` in a tool's schema says so.

use std::collections::HashMap;

use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use crate::message::Message;
use crate::object::Object;

/// What is known of the tools of one server: by tool, each header with the path to its argument.
#[derive(Debug, Default)]
pub(super) struct Parameters(HashMap<String, Vec<(HeaderName, Vec<String>)>>);

impl Parameters {
    /// Takes in a page of the list of tools.
    pub(super) fn learn(&mut self, list: &[u8]) {
        let Ok(list) = serde_json::from_slice::<Value>(list) else { return };
        for tool in list.get("tools").and_then(Value::as_array).into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let mut found = Vec::new();
            if let Some(schema) = tool.get("inputSchema").and_then(Value::as_object) {
                annotated(schema, &mut Vec::new(), &mut found);
            }
            if found.is_empty() {
                self.0.remove(name);
            } else {
                self.0.insert(name.to_owned(), found);
            }
        }
    }

    /// The headers of a call, with the texts they repeat.
    pub(super) fn of(&self, message: &Message) -> Vec<(HeaderName, String)> {
        if message.method() != Some("tools/call") || self.0.is_empty() {
            return Vec::new();
        }
        let params = Object::read(message.content()).unwrap_or_default();
        let known = params.text("name").and_then(|name| self.0.get(&name));
        let arguments: Value =
            params.get("arguments").and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let values = known.into_iter().flatten().filter_map(|(header, path)| {
            let value = path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((header.clone(), text))
        });
        values.collect()
    }
}

/// Finds what a schema annotates, along its properties alone: elsewhere the annotation means nothing.
fn annotated(schema: &Map<String, Value>, path: &mut Vec<String>, found: &mut Vec<(HeaderName, Vec<String>)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object() else { continue };
        path.push(key.clone());
        let name = property.get("x-mcp-header").and_then(Value::as_str).filter(|name| !name.is_empty());
        let header = name.and_then(|name| HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).ok());
        found.extend(header.map(|header| (header, path.clone())));
        annotated(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(call: &str) -> Vec<(String, String)> {
        let mut parameters = Parameters::default();
        parameters.learn(
            br#"{"tools":[{"name":"sql","inputSchema":{"properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "deep":{"type":"object","properties":{"limit":{"type":"integer","x-mcp-header":"Limit"}}},
                "list":{"items":{"properties":{"x":{"x-mcp-header":"Never"}}}},
                "bad":{"x-mcp-header":"a b"}}}},
                {"name":"plain","inputSchema":{}}]}"#,
        );
        let message =
            Message::read(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#)).unwrap();
        parameters.of(&message).into_iter().map(|(header, value)| (header.to_string(), value)).collect()
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let call = r#"{"name":"sql","arguments":{"region":"eu","deep":{"limit":-7},"list":[{"x":"1"}],"bad":"1"}}"#;
        let mut found = headers(call);
        found.sort();
        assert_eq!(found, [pair("mcp-param-limit", "-7"), pair("mcp-param-region", "eu")]);
        assert_eq!(headers(r#"{"name":"sql","arguments":{"region":null}}"#), []);
        assert_eq!(headers(r#"{"name":"plain","arguments":{"region":"eu"}}"#), []);
    }
}
