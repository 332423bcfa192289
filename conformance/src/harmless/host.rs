//! How a client says that a call is made, and how it ended.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::call::Call;
use crate::play::session::{About, Answer, Recorded, Session};

/// `hosts/ID.toml`: templates of frames, in which a text `@name`, or one that ends so, stands for a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    client: String,
    start: String,
    call: String,
    ok: String,
    failed: String,
    server_tool: String,
    server_response: String,
    tools: BTreeMap<String, Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    input: String,
    response: String,
}

/// When a frame is sent.
#[derive(Clone, Copy)]
pub(super) enum Moment {
    Asked,
    Ended,
}

impl Host {
    /// A session of the client without frames, in a project of these files.
    pub(super) fn session(&self, adapter: &str, files: &BTreeMap<String, String>) -> Session {
        let about = About {
            story: String::new(),
            title: String::new(),
            client: adapter.into(),
            client_version: self.client.clone(),
            script_sha256: String::new(),
            recorded: String::new(),
            files: files.clone(),
        };
        Session { name: "harmless".into(), about, frames: Vec::new() }
    }

    /// The frame with which a session starts.
    pub(super) fn started(&self) -> Result<Recorded, String> {
        recorded(&parsed(&self.start)?)
    }

    /// Whether the client has the call's tool.
    pub(super) fn has(&self, call: &Call) -> bool {
        call.server.is_some() || self.tools.contains_key(&call.tool)
    }

    /// The frame of the call with this number.
    pub(super) fn frame(&self, call: &Call, number: usize, moment: Moment) -> Result<Recorded, String> {
        let mut values = Map::from_iter([("id".to_owned(), json!(format!("call-{number}")))]);
        if let Some(server) = &call.server {
            let tool = self.server_tool.replace("{server}", server).replace("{tool}", &call.tool);
            values.insert("tool".into(), json!(tool));
            values.insert("server".into(), json!(server));
            values.insert("input".into(), Value::Object(call.input.clone()));
            values.insert("response".into(), parsed(&self.server_response)?);
        } else {
            let tool = self.tools.get(&call.tool).ok_or_else(|| format!("no tool `{}`", call.tool))?;
            values.insert("tool".into(), json!(tool.name));
            values.insert("input".into(), filled(&parsed(&tool.input)?, &call.input).unwrap_or_default());
            values.insert("response".into(), filled(&parsed(&tool.response)?, &call.input).unwrap_or_default());
        }
        let template = match moment {
            Moment::Asked => &self.call,
            Moment::Ended if call.fails => &self.failed,
            Moment::Ended => &self.ok,
        };
        recorded(&filled(&parsed(template)?, &values).unwrap_or_default())
    }
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{text}: {error}"))
}

fn recorded(frame: &Value) -> Result<Recorded, String> {
    let frame = RawValue::from_string(frame.to_string()).map_err(|error| error.to_string())?;
    Ok(Recorded {
        n: 1,
        environment: BTreeMap::new(),
        files: BTreeMap::new(),
        record: Vec::new(),
        frame,
        reply: Answer::default(),
    })
}

/// A template with its values; what has no value is left out.
fn filled(template: &Value, values: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::String(text) => match text.split_once('@') {
            None => Some(template.clone()),
            Some(("", name)) => values.get(name).cloned(),
            Some((before, name)) => {
                let (name, after) = name.split_once('/').unwrap_or((name, ""));
                let value = values.get(name)?.as_str()?;
                let after = if after.is_empty() { String::new() } else { format!("/{after}") };
                Some(json!(format!("{before}{value}{after}")))
            }
        },
        Value::Array(items) => Some(items.iter().filter_map(|item| filled(item, values)).collect()),
        Value::Object(fields) => {
            let filled = fields.iter().filter_map(|(name, field)| Some((name.clone(), filled(field, values)?)));
            let filled: Map<String, Value> = filled.collect();
            (fields.is_empty() || !filled.is_empty()).then_some(Value::Object(filled))
        }
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::filled;

    #[test]
    fn values_stand_for_their_names() {
        let values = Map::from_iter([("path".to_owned(), json!("a.rs")), ("list".to_owned(), json!([1]))]);
        let template =
            json!({"file": "/p/@path", "deep": "/p/@path/x", "list": "@list", "none": "@none", "o": {"n": "@none"}});
        let wanted = json!({"file": "/p/a.rs", "deep": "/p/a.rs/x", "list": [1]});
        assert_eq!(filled(&template, &values), Some(wanted));
        assert_eq!(filled(&json!({"input": {}}), &values), Some(json!({"input": {}})));
    }
}
