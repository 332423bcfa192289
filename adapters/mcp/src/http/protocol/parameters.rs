//! Which arguments of a call headers repeat: `x-mcp-header` in a tool's schema says so.

use std::collections::HashMap;

use hyper::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::revision::{decoded, one};
use crate::message::Message;
use crate::message::object::Object;

/// What is known of the tools of one server: by tool, each header with the path to its argument.
#[derive(Debug, Default)]
pub(in crate::http) struct Parameters(HashMap<String, Vec<(HeaderName, Vec<String>)>>);

impl Parameters {
    /// Takes in a page of the list of tools.
    pub(in crate::http) fn learn(&mut self, list: &[u8]) {
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
    pub(in crate::http) fn of(&self, message: &Message) -> Vec<(HeaderName, String)> {
        let all = self.repeated(message).into_iter();
        all.filter_map(|(header, text)| Some((header.clone(), text?))).collect()
    }

    /// Whether the headers of a call repeat what its body says. Of a tool that was never listed nothing is known.
    ///
    /// # Errors
    ///
    /// A header is missing, says something else, is in the wrong form, or repeats what the body does not have.
    pub(in crate::http) fn compare(&self, headers: &HeaderMap, message: &Message) -> Result<(), Refusal> {
        for (header, text) in self.repeated(message) {
            let said = one(headers, header)?;
            let fits = match (said, &text) {
                (None, None) => true,
                (Some(said), Some(text)) => decoded(said).is_some_and(|said| same(&said, text)),
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !fits {
                let shown = |text: Option<&str>| text.map_or_else(|| "nothing".to_owned(), |text| format!("`{text}`"));
                let (said, text) = (shown(said), shown(text.as_deref()));
                return Err(Refusal::header_mismatch(format!("the header `{header}` says {said}, the body {text}")));
            }
        }
        Ok(())
    }

    /// The headers of the tool that a call is for, with the texts to repeat; without one, where the call has no such
    /// argument.
    fn repeated(&self, message: &Message) -> Vec<(&HeaderName, Option<String>)> {
        if message.method() != Some("tools/call") || self.0.is_empty() {
            return Vec::new();
        }
        let params = Object::read(message.content()).unwrap_or_default();
        let known = params.text("name").and_then(|name| self.0.get(&name));
        let arguments: Value =
            params.get("arguments").and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let values = known.into_iter().flatten().map(|(header, path)| {
            let text = match path.iter().try_fold(&arguments, |value, key| value.get(key)) {
                Some(Value::String(text)) => Some(text.clone()),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
                None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => None,
            };
            (header, text)
        });
        values.collect()
    }
}

/// Whether two texts are the same, or two ways to write the same whole number: `7` and `7.0`.
fn same(one: &str, other: &str) -> bool {
    let whole = |text: &str| text.strip_suffix(".0").unwrap_or(text).parse::<i64>().ok();
    one == other || whole(one).is_some_and(|number| whole(other) == Some(number))
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

    fn parameters() -> Parameters {
        let mut parameters = Parameters::default();
        parameters.learn(
            br#"{"tools":[{"name":"sql","inputSchema":{"properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "deep":{"type":"object","properties":{"limit":{"type":"integer","x-mcp-header":"Limit"}}},
                "list":{"items":{"properties":{"x":{"x-mcp-header":"Never"}}}},
                "bad":{"x-mcp-header":"a b"}}}},
                {"name":"plain","inputSchema":{}}]}"#,
        );
        parameters
    }

    fn called(call: &str) -> Message {
        Message::read(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#)).unwrap()
    }

    fn headers(call: &str) -> Vec<(String, String)> {
        parameters().of(&called(call)).into_iter().map(|(header, value)| (header.to_string(), value)).collect()
    }

    #[test]
    fn headers_say_what_the_arguments_say() {
        let (region, limit) = ("mcp-param-region", "mcp-param-limit");
        for (call, headers, fits) in [
            (r#"{"region":"eu"}"#, vec![(region, "eu")], true),
            (r#"{"region":"eu"}"#, vec![(region, "=?base64?ZXU=?=")], true),
            (r#"{"region":"eu"}"#, vec![(region, "us")], false),
            (r#"{"region":"eu"}"#, vec![(region, "=?base64?ZXU?=")], false),
            (r#"{"region":"eu"}"#, vec![], false),
            (r#"{"region":"eu"}"#, vec![(region, "eu"), (region, "us")], false),
            (r#"{"region":null}"#, vec![], true),
            (r#"{"region":null}"#, vec![(region, "eu")], false),
            (r#"{}"#, vec![(region, "eu")], false),
            (r#"{"deep":{"limit":7}}"#, vec![(limit, "7")], true),
            (r#"{"deep":{"limit":7}}"#, vec![(limit, "7.0")], true),
            (r#"{"deep":{"limit":7}}"#, vec![(limit, "8")], false),
            (r#"{"region":"eu"}"#, vec![(region, "eu"), ("mcp-param-other", "x")], true),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.append(*name, value.parse().unwrap());
            }
            let message = called(&format!(r#"{{"name":"sql","arguments":{call}}}"#));
            assert_eq!(parameters().compare(&map, &message).is_ok(), fits, "{call} {headers:?}");
        }
        let plain = called(r#"{"name":"never-listed","arguments":{"region":"eu"}}"#);
        assert!(parameters().compare(&HeaderMap::new(), &plain).is_ok());
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
