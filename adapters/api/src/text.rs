//! The text of a decision for the agent, the same on every platform: what the call is, and what to do now.
//!
//! A skill of the compatible form has the layout of the original system: two sentences, and all of it as an object.

use phasegate_core::answers::code::Area;
use phasegate_core::state::ObligationKind;
use phasegate_core::{Code, Decision};
use serde::Serialize;
use serde_json::Value;

use crate::verdict::Verdict;

/// All of a denial as an object. Its keys are in alphabetical order, as in the original system.
#[derive(Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    current_phase: &'a str,
    error: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    missing: &'a [String],
    reason: &'a str,
    recovery: &'a str,
    skill: &'a str,
    tool: &'a str,
}

/// The text of a denial or a question.
#[must_use]
pub fn denial(decision: &Decision) -> String {
    if let Some(attempted) = &decision.attempted {
        return blocked("BLOCKED", decision, attempted);
    }
    if decision.compat {
        return original("Phase violation", decision, "");
    }
    sentences("", decision)
}

/// The text of a warning: the call goes on, and the agent is told what was wrong with it.
#[must_use]
pub fn warning(decision: &Decision) -> String {
    if let Some(attempted) = &decision.attempted {
        return blocked("WARNING", decision, attempted);
    }
    if decision.compat {
        return original("Phase warning", decision, " (the call was let through)");
    }
    sentences("phasegate let the call through. ", decision)
}

/// What the call is and what to do now, in one paragraph.
fn sentences(head: &str, decision: &Decision) -> String {
    let (front, end) = match decision.code {
        Some(code) if is_phase(decision) => (String::new(), format!(" [{code}]")),
        Some(Code::RuleRejected) | None => ("phasegate: ".to_owned(), String::new()),
        Some(code) => (format!("phasegate [{code}]: "), String::new()),
    };
    format!("{head}{front}{}.{}{end}", decision.reason.trim_end_matches('.'), sentence(&decision.recovery))
}

/// A text as a sentence after another one.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let Some(first) = rest.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!(" {}{}{end}", first.to_uppercase(), rest.as_str())
}

/// The layout of the original system.
fn original(head: &str, decision: &Decision, after: &str) -> String {
    let recovery = match decision.recovery.as_str() {
        "" => String::new(),
        text => format!("Recovery: {text}"),
    };
    join(&[format!("{head}: {}{after}", decision.reason), recovery, json(&of(decision))])
}

/// What the agent is told beside an answer: warnings first, then the obligations.
#[must_use]
pub fn context(verdict: &Verdict) -> Option<String> {
    let warnings = verdict.warnings.iter().map(warning);
    let obligations = verdict.obligations.iter().map(|obligation| {
        let ObligationKind::Context(text) = &obligation.kind;
        text.clone()
    });
    let parts: Vec<String> = warnings.chain(obligations).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The answer to a turn that may not end: the denial, then what the agent is told besides. No other field of such an answer
/// reaches the agent.
#[must_use]
pub fn held(decision: &Decision, verdict: &Verdict) -> String {
    let parts = [Some(denial(decision)), context(verdict)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn is_phase(decision: &Decision) -> bool {
    decision.code.is_some_and(|code| code.area() == Area::Phase)
}

/// The layout of seed 001, FR-009.
fn blocked(word: &str, decision: &Decision, attempted: &str) -> String {
    let phase = decision.phase.as_deref().unwrap_or_default();
    let head = format!("{word}: {}\n\nCurrent phase: {phase}\nAttempted: {attempted}", decision.reason);
    join(&[head, decision.recovery.clone()])
}

/// The text of a denial as an object, with the keys of the original system.
#[must_use]
pub fn structured(decision: &Decision) -> Value {
    serde_json::to_value(of(decision)).unwrap_or_default()
}

fn error(decision: &Decision) -> &str {
    if is_phase(decision) { "phase_violation" } else { decision.code.map_or("denied", Code::id) }
}

fn of(decision: &Decision) -> Details<'_> {
    Details {
        code: decision.code,
        current_phase: decision.phase.as_deref().unwrap_or_default(),
        error: error(decision),
        missing: &decision.missing,
        reason: &decision.reason,
        recovery: &decision.recovery,
        skill: decision.skill.as_deref().unwrap_or_default(),
        tool: &decision.tool,
    }
}

/// These values always can be written: their keys are text and their numbers finite.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn join(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The value with the keys of every object in alphabetical order, whatever map the build of `serde_json` uses.
#[must_use]
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            Value::Object(fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
