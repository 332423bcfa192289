//! The audit log of seed 000: one JSON line for each beginning, end, move and violation of a run.
//!
//! It is a copy for other programs; the journal is what counts. A line that cannot be written changes no decision.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use phasegate_core::state::Record;
use serde_json::{Value, json};

/// Appends the audit events among `records` to the log.
pub(crate) fn write(path: &Path, time: i64, session: &str, records: &[Record]) {
    let lines: Vec<_> = records.iter().filter_map(|record| line(time, session, record)).collect();
    if lines.is_empty() {
        return;
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let written =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        tracing::warn!(path = %path.display(), %error, "the audit log cannot be written");
    }
}

fn line(time: i64, session: &str, record: &Record) -> Option<Value> {
    let (event, skill, phase, detail, success) = match record {
        Record::ActivateSkill { skill, phase, .. } => ("activate_skill", skill, phase, String::new(), true),
        Record::DeactivateSkill { skill, phase, .. } => ("deactivate_skill", skill, phase, String::new(), true),
        Record::PhaseAdvance { skill, from, phase, triggered_by, .. } => {
            ("phase_advance", skill, phase, format!(" from={from} triggered_by={triggered_by}"), true)
        }
        Record::PhaseViolation { skill, phase, tool, code, .. } => {
            let rule = if *code == phasegate_core::Code::GlobalForbidden { "global_forbidden" } else { "forbidden" };
            ("phase_violation", skill, phase, format!(" {rule}: {tool}"), false)
        }
        Record::EvidenceSeen { .. } | Record::Approved { .. } => return None,
    };
    let timestamp = jiff::Timestamp::from_millisecond(time).map(|time| time.to_string()).unwrap_or_default();
    Some(json!({
        "timestamp": timestamp,
        "tool": event,
        "session_id": session,
        "files": null,
        "edit_summary": {
            "mode": "phase_enforcement",
            "target": format!("{event}: skill={skill} phase={phase}{detail}"),
        },
        "success": success,
    }))
}
