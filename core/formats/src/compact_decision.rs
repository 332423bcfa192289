//! A decision without what its record says elsewhere, or what most decisions say.
//!
//! The tool is left out where the event names the same one, the phase before where it is the phase after, and the effect
//! where it is `allow`. `null` in place of the tool or the phase before says that the decision has none.

use phasegate_core::Decision;
use serde_json::{Map, Value};

const EFFECT: &str = "effect";
const MOST_FREQUENT_EFFECT: &str = "allow";
const TOOL: &str = "tool";
const PHASE: &str = "phase";
const PHASE_BEFORE: &str = "phase_before";

/// The decision on an event, as a record holds it.
///
/// # Errors
///
/// The decision cannot be written as JSON.
pub fn compact(decision: &Decision, event: &Value) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(decision)?;
    if let Value::Object(fields) = &mut value {
        if fields.get(EFFECT).is_some_and(|effect| effect == MOST_FREQUENT_EFFECT) {
            fields.remove(EFFECT);
        }
        leave_out(fields, TOOL, event.get(TOOL));
        let phase = fields.get(PHASE).cloned();
        leave_out(fields, PHASE_BEFORE, phase.as_ref());
    }
    Ok(value)
}

fn leave_out(fields: &mut Map<String, Value>, name: &str, repeated: Option<&Value>) {
    match (fields.get(name), repeated) {
        (said, repeated) if said == repeated => {
            fields.remove(name);
        }
        (None, Some(_)) => {
            fields.insert(name.to_string(), Value::Null);
        }
        _ => {}
    }
}

/// The decision that a record holds.
///
/// # Errors
///
/// It is no decision.
pub fn complete(mut value: Value, event: &Value) -> serde_json::Result<Decision> {
    if let Value::Object(fields) = &mut value {
        fields.entry(EFFECT).or_insert_with(|| Value::from(MOST_FREQUENT_EFFECT));
        put_back(fields, TOOL, event.get(TOOL));
        let phase = fields.get(PHASE).cloned();
        put_back(fields, PHASE_BEFORE, phase.as_ref());
    }
    serde_json::from_value(value)
}

fn put_back(fields: &mut Map<String, Value>, name: &str, repeated: Option<&Value>) {
    match (fields.get(name), repeated) {
        (Some(Value::Null), _) => {
            fields.remove(name);
        }
        (None, Some(repeated)) => {
            fields.insert(name.to_string(), repeated.clone());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decision_comes_back_whatever_the_record_says_elsewhere() {
        let call = json!({"event": "tool_call", "tool": "Read"});
        let command = json!({"event": "command"});
        for (decision, event, wanted) in [
            (
                json!({"effect": "allow", "gate": "phase", "tool": "Read", "phase": "a", "phase_before": "a"}),
                &call,
                json!({"gate": "phase", "phase": "a"}),
            ),
            (
                json!({"effect": "deny", "tool": "Edit", "phase": "b", "phase_before": "a"}),
                &call,
                json!({"effect": "deny", "tool": "Edit", "phase": "b", "phase_before": "a"}),
            ),
            (json!({"effect": "allow"}), &call, json!({"tool": null})),
            (json!({"effect": "allow", "phase": "a"}), &command, json!({"phase": "a", "phase_before": null})),
            (json!({"effect": "warn", "tool": "Read"}), &command, json!({"effect": "warn", "tool": "Read"})),
        ] {
            let decision: Decision = serde_json::from_value(decision).unwrap();
            let compact = compact(&decision, event).unwrap();
            assert_eq!(compact, wanted);
            assert_eq!(complete(compact, event).unwrap(), decision);
        }
    }
}
