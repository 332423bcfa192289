//! A `tools/call` as it is decided: only one that every reader reads alike.

use phasegate_core::calls::tool::{Labels, NETWORK, READ, WRITE};
use serde_json::{Map, Value};

use crate::message::Message;
use crate::message::object::{Object, folded};
use crate::strict;

/// The method that calls a tool.
pub const METHOD: &str = "tools/call";

/// What a `tools/call` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name, as the client wrote it.
    pub name: String,
    /// The arguments; an empty object where there are none.
    pub input: Value,
    /// Every text directly in the call's `_meta`: hosts name their own id of the call there.
    pub host_ids: Vec<String>,
    /// Whether the request is of revision 2026-07-28 or later, which says so in each message.
    pub modern: bool,
}

/// The keys of the parameters that decide what is called.
const KEYS: [&str; 3] = ["name", "arguments", "_meta"];

impl Call {
    /// Reads the parameters of a `tools/call`.
    ///
    /// # Errors
    ///
    /// They can be read in more than one way, or not at all; what is wrong, as a fragment.
    pub fn read(message: &Message) -> Result<Self, String> {
        let params = Object::read(message.content()).map_err(|error| format!("`params` is not an object: {error}"))?;
        if let Some(name) = params.doubtful(&KEYS) {
            return Err(format!(
                "the key `{name}` of `params` is given twice, or is one key to some and another to others"
            ));
        }
        let name = params.text("name").ok_or("`params.name` is not a text")?;
        let input = match params.get("arguments") {
            Some(json) => strict::read(json).map_err(|error| format!("`params.arguments`: {error}"))?,
            None => Value::Object(Map::new()),
        };
        let input = match input {
            Value::Object(_) => input,
            Value::Null => Value::Object(Map::new()),
            _ => return Err("`params.arguments` is not an object".into()),
        };
        if let Some(key) = alike(&input) {
            return Err(format!("the argument `{key}` is given twice, in different case"));
        }
        let meta = params.get("_meta").map_or(Ok(Value::Null), strict::read);
        let meta = meta.map_err(|error| format!("`params._meta`: {error}"))?;
        let host_ids = meta.as_object().into_iter().flatten().filter_map(|(_, value)| Some(value.as_str()?.to_owned()));
        Ok(Self { name, input, host_ids: host_ids.collect(), modern: modern_meta(&meta) })
    }
}

/// An argument that a reader which does not look at case takes for another one.
fn alike(input: &Value) -> Option<&str> {
    let fields = input.as_object()?;
    if fields.len() < 2 {
        return None;
    }
    let mut keys: Vec<(String, &str)> = fields.keys().map(|key| (folded(key).collect(), key.as_str())).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [(first, _), (second, key)] if first == second => Some(*key),
        _ => None,
    })
}

/// The key in `_meta` that names the revision of a message; older revisions do not have it.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn modern_meta(meta: &Value) -> bool {
    meta.get(VERSION).is_some_and(Value::is_string)
}

/// Whether a request is of revision 2026-07-28 or later.
pub fn modern(message: &Message) -> bool {
    let meta = || Object::read(message.content()).ok()?.get("_meta").and_then(|json| serde_json::from_str(json).ok());
    meta().is_some_and(|meta| modern_meta(&meta))
}

/// Whether a method that is not `tools/call` could be taken for it by a reader that is less exact.
pub fn passes_for_a_call(method: &str) -> bool {
    method != METHOD && folded(method).filter(char::is_ascii_alphanumeric).eq("toolscall".chars())
}

/// The labels that a tool's annotations stand for; `None` if they say nothing.
pub fn labels(tool: &Value) -> Option<Labels> {
    let hint = |name: &str| tool.get("annotations")?.get(name)?.as_bool();
    let (reads, destroys) = (hint("readOnlyHint"), hint("destructiveHint"));
    let mut labels = Labels::new();
    match (reads, destroys) {
        (Some(true), Some(true)) | (Some(false), _) | (None, Some(true)) => labels.insert(WRITE.to_owned()),
        (Some(true), _) => labels.insert(READ.to_owned()),
        (None, _) => return None,
    };
    if hint("openWorldHint") == Some(true) {
        labels.insert(NETWORK.to_owned());
    }
    Some(labels)
}

/// The server's name as hosts write it within the names of tools: `_` for every character that has no place there.
pub fn server_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Call, labels, passes_for_a_call};
    use crate::message::Message;

    fn read(params: &str) -> Result<Call, String> {
        let json = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        Call::read(&Message::read(json.into_bytes()).unwrap())
    }

    #[test]
    fn a_call_is_what_every_reader_takes_it_for() {
        let call =
            read(r#"{"name":"\u0065cho","arguments":{"a":{"A":1,"a":2}},"_meta":{"x":"toolu_1","n":1}}"#).unwrap();
        assert_eq!((call.name.as_str(), call.input), ("echo", json!({"a": {"A": 1, "a": 2}})));
        assert_eq!((call.host_ids, call.modern), (vec!["toolu_1".to_owned()], false));
        assert_eq!(read(r#"{"name":"echo"}"#).unwrap().input, json!({}));
        assert_eq!(read(r#"{"name":"echo","arguments":null}"#).unwrap().input, json!({}));
        assert!(
            read(r#"{"name":"e","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#).unwrap().modern
        );
    }

    #[test]
    fn a_call_in_doubt_is_none() {
        for params in [
            "[]",
            "7",
            "{}",
            r#"{"name":7}"#,
            r#"{"name":null}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","Name":"b"}"#,
            r#"{"name":"a","\u006eame":"b"}"#,
            r#"{"name":"a","argumentſ":{}}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","arguments":"x"}"#,
            r#"{"name":"a","arguments":{"p":1,"p":2}}"#,
            r#"{"name":"a","arguments":{"p":1,"P":2}}"#,
            r#"{"name":"a","arguments":{"x":[{"p":1,"p":2}]}}"#,
            r#"{"name":"a\ud800"}"#,
            r#"{"name":"a","_meta":{"k":"1","k":"2"}}"#,
        ] {
            assert!(read(params).is_err(), "{params}");
        }
        let deep = format!(r#"{{"name":"a","arguments":{{"x":{}1{}}}}}"#, "[".repeat(1000), "]".repeat(1000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn methods_that_look_like_a_call_are_known() {
        for method in [
            "Tools/Call",
            "tools/call ",
            "tools//call",
            "toolſ/call",
            "tools/ca\u{200b}ll",
            "tools/call\0",
            "toolscall",
        ] {
            assert!(passes_for_a_call(method), "{method:?}");
        }
        for method in ["tools/call", "tools/list", "tools/calls", "x/tools/call", ""] {
            assert!(!passes_for_a_call(method), "{method:?}");
        }
    }

    #[test]
    fn annotations_are_labels() {
        for (annotations, expected) in [
            (json!(null), None),
            (json!({"title": "x"}), None),
            (json!({"readOnlyHint": "yes"}), None),
            (json!({"readOnlyHint": true}), Some("read")),
            (json!({"readOnlyHint": true, "openWorldHint": true}), Some("network read")),
            (json!({"readOnlyHint": true, "destructiveHint": true}), Some("write")),
            (json!({"readOnlyHint": false, "destructiveHint": false}), Some("write")),
            (json!({"destructiveHint": true}), Some("write")),
            (json!({"destructiveHint": false}), None),
        ] {
            let found = labels(&json!({"name": "x", "annotations": annotations}));
            let words = found.map(|labels| labels.into_iter().collect::<Vec<_>>().join(" "));
            assert_eq!(words.as_deref(), expected, "{annotations}");
        }
        assert_eq!(labels(&Value::Null), None);
    }
}
