//! The original's four audit events, one JSON object each: its own fields, and the parts of its texts as separate
//! fields.

use phasegate_core::Code;
use phasegate_core::Record;
use serde_json::{Map, Value, json};

use crate::timestamp::timestamp;

/// Where an event happened.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// When it was decided, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The platform's id of the session.
    pub session: &'a str,
    /// The number of the record in the session's journal; `None` where there is no journal.
    pub seq: Option<u64>,
    /// The version of the policy it was decided by.
    pub policy: &'a str,
    /// The id of the subagent that acted; `None` is the main agent.
    pub agent: Option<&'a str>,
    /// Who was behind the session, where that was established.
    pub principal: Option<&'a str>,
}

/// The line for a record; `None` for a record that is none of the four events.
///
/// `timestamp`, `tool`, `session_id`, `files`, `edit_summary` and `success` are the original's. `phase_event` holds
/// what the original has only as text: `event`, `run`, `skill`, `phase`, and by event `from`, `triggered_by`, `tool`,
/// `code`, `rule`, `blocked`, `mode`, `by`, `status`.
pub fn of(place: &Place<'_>, record: &Record) -> Option<Value> {
    let (event, skill, phase, detail) = match record {
        Record::ActivateSkill { skill, phase, .. } => ("activate_skill", skill, phase, String::new()),
        Record::DeactivateSkill { skill, phase, .. } => ("deactivate_skill", skill, phase, String::new()),
        Record::PhaseAdvance { skill, from, phase, triggered_by, .. } => {
            ("phase_advance", skill, phase, format!(" from={from} triggered_by={triggered_by}"))
        }
        Record::PhaseViolation { skill, phase, tool, code, .. } => {
            ("phase_violation", skill, phase, format!(" {}: {tool}", rule(*code)))
        }
        Record::LimitSpent { .. }
        | Record::EvidenceSeen { .. }
        | Record::ToolChanged { .. }
        | Record::Approved { .. }
        | Record::SafetyRegistered { .. }
        | Record::AccessSet { .. }
        | Record::SafetyApproved { .. }
        | Record::ApprovalRevoked { .. } => return None,
    };
    let mut line = json!({
        "timestamp": timestamp(place.time),
        "tool": event,
        "session_id": place.session,
        "files": null,
        "edit_summary": {
            "mode": "phase_enforcement",
            "target": format!("{event}: skill={skill} phase={phase}{detail}"),
        },
        "success": event != "phase_violation",
        "phase_event": structured(event, record),
    });
    if let Value::Object(fields) = &mut line {
        let known = [
            ("seq", place.seq.map(Value::from)),
            ("policy", Some(place.policy).filter(|policy| !policy.is_empty()).map(Value::from)),
            ("agent", place.agent.map(Value::from)),
            ("principal", place.principal.map(Value::from)),
        ];
        fields.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
    }
    Some(line)
}

/// The record's own fields, under the event's name.
fn structured(event: &str, record: &Record) -> Value {
    let mut fields = match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.remove("record");
    fields.insert("event".to_string(), Value::from(event));
    if let Record::PhaseViolation { code, .. } = record {
        fields.insert("rule".to_string(), Value::from(rule(*code)));
    }
    Value::Object(fields)
}

/// The original's word for the list that a violation broke.
fn rule(code: Code) -> &'static str {
    if code == Code::GlobalForbidden { "global_forbidden" } else { "forbidden" }
}
