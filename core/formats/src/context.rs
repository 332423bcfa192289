//! What a record repeats of the record before it, and therefore leaves out.
//!
//! A record says `same` of a decision that equals the last one. It leaves out the policy's version, the program's
//! version, the number of the project's last record, and the event's session, working directory and permission mode where
//! they equal those of the record before. A snapshot record leaves out nothing.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

/// The fields of an event that records share. `null` says that the event does not have the field.
const SHARED_FIELDS: [&str; 3] = ["session", "cwd", "permission_mode"];
/// The field of an event that repeats the time of its record.
const TIME: &str = "time";
/// The field that makes a value an event.
const NAME: &str = "event";

/// What the records so far have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The version of phasegate that wrote the last record.
    pub engine: String,
    /// The version of the policy of the last record.
    pub policy: String,
    /// The number of the project's last record at the time of the last record.
    pub project_seq: Option<u64>,
    /// The last decision in its compact form, as JSON; empty before the first.
    pub decision: String,
    /// The shared fields of the last event.
    pub event: BTreeMap<&'static str, Value>,
}

impl Context {
    /// Takes over what the event of a record says.
    pub fn note(&mut self, event: &Value) {
        let Some(fields) = event_fields(event) else { return };
        for name in SHARED_FIELDS {
            match fields.get(name) {
                Some(value) => {
                    if self.event.get(name) != Some(value) {
                        self.event.insert(name, value.clone());
                    }
                }
                None => {
                    self.event.remove(name);
                }
            }
        }
    }

    /// Puts back what a compact event leaves out. `time` is that of the record.
    pub fn complete(&self, event: &mut Value, time: i64) {
        let Some(fields) = event.as_object_mut().filter(|fields| fields.contains_key(NAME)) else { return };
        for name in SHARED_FIELDS {
            match fields.get(name) {
                Some(Value::Null) => {
                    fields.remove(name);
                }
                Some(_) => {}
                None => {
                    if let Some(value) = self.event.get(name) {
                        fields.insert(name.to_string(), value.clone());
                    }
                }
            }
        }
        match fields.get(TIME) {
            Some(Value::Null) => {
                fields.remove(TIME);
            }
            Some(_) => {}
            None => {
                fields.insert(TIME.to_string(), Value::from(time));
            }
        }
    }
}

/// An event, without what [`Context::complete`] puts back.
#[derive(Clone, Copy, Debug)]
pub struct CompactEvent<'a> {
    /// The event.
    pub event: &'a Value,
    /// The time of its record.
    pub time: i64,
    /// What the records before it have in common.
    pub context: &'a Context,
}

impl Serialize for CompactEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = event_fields(self.event) else { return self.event.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in fields {
            let known = match name.as_str() {
                TIME => *value == self.time,
                name => self.context.event.get(name) == Some(value),
            };
            if !known {
                map.serialize_entry(name, value)?;
            }
        }
        let absent = SHARED_FIELDS.into_iter().filter(|name| self.context.event.contains_key(name));
        for name in absent.chain([TIME]).filter(|name| !fields.contains_key(*name)) {
            map.serialize_entry(name, &Value::Null)?;
        }
        map.end()
    }
}

fn event_fields(event: &Value) -> Option<&Map<String, Value>> {
    event.as_object().filter(|fields| fields.contains_key(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_comes_back_whatever_it_shares_with_the_one_before() {
        let mut written = Context::default();
        let mut read = Context::default();
        for (event, wanted) in [
            (
                json!({"event": "stop", "session": "s", "cwd": "/p", "time": 5}),
                r#"{"cwd":"/p","event":"stop","session":"s"}"#,
            ),
            (json!({"event": "stop", "session": "s", "cwd": "/p", "time": 5}), r#"{"event":"stop"}"#),
            (
                json!({"event": "stop", "session": "s", "cwd": "/q", "time": 6}),
                r#"{"cwd":"/q","event":"stop","time":6}"#,
            ),
            (json!({"frame": "digest"}), r#"{"frame":"digest"}"#),
            (json!({"event": "stop", "session": "s"}), r#"{"event":"stop","cwd":null,"time":null}"#),
            (
                json!({"event": "stop", "session": "t", "permission_mode": "plan", "time": 5}),
                r#"{"event":"stop","permission_mode":"plan","session":"t"}"#,
            ),
        ] {
            let compact = CompactEvent { event: &event, time: 5, context: &written };
            let text = serde_json::to_string(&compact).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(wanted).unwrap());
            let mut found: Value = serde_json::from_str(&text).unwrap();
            read.complete(&mut found, 5);
            assert_eq!(found, event);
            written.note(&event);
            read.note(&found);
            assert_eq!(read, written);
        }
    }
}
