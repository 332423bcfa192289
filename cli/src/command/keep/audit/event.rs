//! Events and answers of a journal in a person's words.

use owo_colors::OwoColorize as _;
use phasegate_core::Effect;
use phasegate_core::Record;
use phasegate_core::events::event::By;
use phasegate_core::evidence::fact::{Fact, FactKey, FactValue};
use phasegate_core::policy::{Scope, Spent};
use phasegate_core::state::Status;
use phasegate_runtime::operate::audit::history::Past;
use phasegate_runtime::timestamp::timestamp;
use serde_json::Value;

/// A text of an event is shown up to this many characters.
const MAX_SHOWN_CHARS: usize = 80;

/// Who acted: a person or the platform where the event says so, a subagent by its kind and id, else the main agent.
pub(crate) fn subject(past: &Past) -> String {
    if let by @ ("human" | "platform") = text(past.event.get("by")) {
        return by.to_string();
    }
    let agent = |name: &str| text(past.event.get("agent").and_then(|agent| agent.get(name)));
    match (agent("type"), agent("id")) {
        // Of several callers of a server, each is one.
        ("", "") => {
            Some(text(past.event.get("principal"))).filter(|user| !user.is_empty()).unwrap_or("main").to_string()
        }
        (kind, "") => kind.to_string(),
        ("", id) => id.to_string(),
        (kind, id) => format!("{kind} {id}"),
    }
}

/// The tool that an event is about; empty where it is about none.
pub(crate) fn tool(past: &Past) -> &str {
    text(past.event.get("tool"))
}

/// What happened.
pub(crate) fn words(past: &Past) -> String {
    let event = &past.event;
    let field = |name: &str| text(event.get(name));
    match field("event") {
        "tool_call" => joined(&[field("tool"), &what(event)]),
        "tool_result" => result(event),
        "session_start" => format!("session begins ({})", field("source")),
        "join" => format!("inherits runs of session {}", field("from")),
        "session_end" => "session ends".to_string(),
        "prompt" => joined(&["prompt", &shown(event.get("text"))]),
        "skill" => joined(&["skill", field("name")]),
        "command" => joined(&["command", field("name"), &what(event)]),
        "subagent_start" => format!("subagent {} begins ({})", field("id"), field("type")),
        "subagent_stop" => format!("subagent {} ends", field("id")),
        "permission" => joined(&["permission", field("outcome")]),
        "config_changed" => format!("settings changed: {}", field("path")),
        "" => "a message without an event".to_string(),
        name => name.replace('_', " "),
    }
}

/// What the guard saw when it looked at the project.
pub(crate) fn fact(key: &FactKey, fact: &Fact) -> String {
    let args = key.args();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let (what, path) = match (key.source(), args.as_array().map(Vec::as_slice)) {
        ("count", Some([path, wanted])) => (Some(plain(wanted)), plain(path)),
        ("file", _) => (None, plain(&args)),
        (source, _) => return format!("{source} of {args}: {}", value(&fact.value, &plain)),
    };
    match (&fact.value, what) {
        (FactValue::Absent, _) => format!("`{path}` does not exist"),
        (FactValue::Unknown, _) => format!("`{path}` could not be read"),
        (FactValue::Known(times), Some(wanted)) => format!("`{path}` has `{wanted}` {times} times"),
        (FactValue::Known(digest), None) => format!("`{path}` is there, SHA-256 {}", plain(digest)),
    }
}

fn value(value: &FactValue, plain: &dyn Fn(&Value) -> String) -> String {
    match value {
        FactValue::Known(value) => plain(value),
        FactValue::Absent => "does not exist".to_string(),
        FactValue::Unknown => "could not be found out".to_string(),
    }
}

fn result(event: &Value) -> String {
    let field = |name: &str| text(event.get(name));
    let outcome = match event.get("ok").and_then(Value::as_bool) {
        Some(true) => "ok",
        Some(false) => "failed",
        None => field("outcome"),
    };
    let status = event.get("exit_code").and_then(Value::as_i64).map(|code| format!("(exit status {code})"));
    let whose = if field("tool").is_empty() { "a call" } else { field("tool") };
    joined(&[whose, "ended", outcome, &status.unwrap_or_default()])
}

/// What a call or command is about: its command line, its paths, or its arguments.
fn what(event: &Value) -> String {
    let input = event.get("input").or_else(|| event.get("args"));
    let named = ["command", "file_path", "path", "skill", "skill_name", "pattern", "url", "name"];
    let first = named.iter().find_map(|name| input?.get(name).filter(|value| value.is_string()));
    match first.or(input) {
        Some(Value::Object(fields)) if fields.is_empty() => String::new(),
        value => shown(value),
    }
}

fn shown(value: Option<&Value>) -> String {
    let whole = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The answer, in the colour of its effect.
pub(crate) fn effect(effect: Effect) -> String {
    let word = effect.word();
    match effect {
        Effect::Allow => word.green().to_string(),
        Effect::Warn => word.yellow().to_string(),
        Effect::Ask => word.blue().to_string(),
        Effect::Deny => word.red().bold().to_string(),
    }
}

/// What changed, in words.
pub(crate) fn change(record: &Record) -> String {
    match record {
        Record::ActivateSkill { run, skill, phase, mode, by } => {
            format!("{skill} begins in phase {phase} ({run}, {} mode, by {})", mode.word(), by_word(*by))
        }
        Record::DeactivateSkill { run, skill, phase, status, by } => {
            let how = match status {
                Status::Finished => "is finished",
                Status::Active | Status::Left => "is left",
                Status::Failed => "failed",
            };
            format!("{skill} {how} in phase {phase} ({run}, by {})", by_word(*by))
        }
        Record::PhaseAdvance { skill, from, phase, triggered_by, .. } => {
            format!("{skill}: {from} -> {phase} (by {triggered_by})")
        }
        Record::LimitSpent { skill, phase, to, limit, then, .. } => {
            let what = match then {
                Spent::Halt => "has failed",
                Spent::Person => "waits for a person",
            };
            format!("{skill} {what}: phase {phase} may go back to {to} at most {limit} times")
        }
        Record::PhaseViolation { skill, phase, tool, code, blocked, .. } => {
            let then = if *blocked { "denied" } else { "told" };
            format!("{skill}: {tool} breaks a rule in phase {phase}, {then} [{code}]")
        }
        Record::EvidenceSeen { phase, tool, outcome, .. } => {
            let outcome = serde_json::to_value(outcome).unwrap_or_default();
            format!("evidence in phase {phase}: {tool} {}", text(Some(&outcome)))
        }
        Record::ToolChanged { server, tool } => format!("server `{server}` changed {tool}"),
        Record::Approved { name } => format!("`{name}` is approved"),
        Record::SafetyRegistered { tool, commands, scope, by } => {
            let place = if *scope == Scope::Project { "the project" } else { "the session" };
            let who = if *by == By::Human { "a person" } else { "the agent" };
            format!("{who} registered {commands} patterns of `{tool}` for {place}")
        }
        Record::AccessSet { access, until: Some(until) } => {
            format!("the access is `{}` until {}", access.word(), timestamp(*until))
        }
        Record::AccessSet { access, .. } => format!("the access is `{}`", access.word()),
        Record::SafetyApproved { program, approved: true } => format!("agents may classify `{program}`"),
        Record::SafetyApproved { program, .. } => format!("agents may classify `{program}` no more"),
        Record::ApprovalRevoked { name } => format!("`{name}` is approved no more"),
    }
}

fn by_word(by: By) -> &'static str {
    match by {
        By::Agent => "the agent",
        By::Platform => "the platform",
        By::Human => "a person",
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}
