//! A line of a neutral transcript: an event of the engine, with the fields that all events share.
#![expect(dead_code, reason = "the types are only described, never made")]

use phasegate_core::EventKind;
use phasegate_core::events::event::Agent;
use phasegate_core::policy::access::Stated;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// A line of a neutral transcript: what happened, with who and when.
pub(super) struct EventLine;

impl JsonSchema for EventLine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventLine".into()
    }

    /// Every event with the fields that all events share.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shared = properties(&Envelope::json_schema(generator).to_value());
        let mut schema = EventKind::json_schema(generator).to_value();
        for event in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::Object(own)) = event.get_mut("properties") {
                own.extend(shared.clone());
            }
        }
        Schema::try_from(schema).unwrap_or_default()
    }
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// What every event may say.
#[derive(JsonSchema)]
#[serde(default)]
#[derive(Default)]
struct Envelope {
    /// The platform's id of the session; empty if the transcript names none.
    session: String,
    /// When it happened; the time of the line before if absent.
    time: Option<Time>,
    /// The working directory of the session, as an absolute path.
    cwd: Option<String>,
    /// The principal of the session, as the adapter established it.
    principal: Option<String>,
    /// The platform's own permission mode as it names it, for example `plan`.
    permission_mode: Option<String>,
    /// The agent that acts; the main agent if absent.
    agent: Option<Agent>,
    /// What the server that holds the guard states of a call. It can only make the answer stricter.
    stated: Option<Stated>,
}

/// A point in time.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Time {
    /// Milliseconds since 1970-01-01 UTC.
    Milliseconds(i64),
    /// A date and time as in RFC 3339.
    Text(String),
}
