//! The text of a decision for the agent, the same on every platform: why, how to get on, and an object with the rest.
//!
//! The first two have the format of the original system. Its object repeated them; here [`structured`] does.

use phasegate_core::code::Area;
use phasegate_core::decision::NextCall;
use phasegate_core::state::ObligationKind;
use phasegate_core::{Code, Decision};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::verdict::Verdict;

/// How a platform's agent makes a call that is suggested to it.
pub trait Native: Copy {
    /// The call in the platform's words; `None` if its agent cannot make it.
    fn call(self, call: &NextCall) -> Option<Next>;
}

/// The name by which the agent calls a tool, given the tool's canonical name and its server, if it has one. The arguments
/// have their canonical names.
impl<F: Fn(&str, Option<&str>) -> String + Copy> Native for F {
    fn call(self, call: &NextCall) -> Option<Next> {
        Some(Next { input: sorted(&call.input), tool: self(&call.tool, call.server.as_deref()) })
    }
}

/// A platform whose own tools have arguments of other names.
#[derive(Clone, Copy, Debug)]
pub struct Renamed<F> {
    /// As for every platform.
    pub native: F,
    /// The arguments: the canonical names of the tool and of the argument, and the platform's name of the argument.
    pub arguments: &'static [(&'static str, &'static str, &'static str)],
    /// The tools, by canonical name, that the platform's agent does not have.
    pub without: &'static [&'static str],
}

impl<F: Native> Native for Renamed<F> {
    fn call(self, call: &NextCall) -> Option<Next> {
        if call.server.is_some() {
            return self.native.call(call);
        }
        if self.without.contains(&call.tool.as_str()) {
            return None;
        }
        let mut input = call.input.clone();
        if let Value::Object(fields) = &mut input {
            for (_, canonical, native) in self.arguments.iter().filter(|(tool, ..)| *tool == call.tool) {
                let value = fields.remove(*canonical);
                fields.extend(value.map(|value| ((*native).to_owned(), value)));
            }
        }
        self.native.call(&NextCall { input, ..call.clone() })
    }
}

/// The most characters of a text that suggests several calls: it suggests fewer, but always one.
const MAX_CHARS: usize = 600;

/// All of a denial as an object. Its keys are in alphabetical order, as in the original system.
#[derive(Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    current_phase: &'a str,
    error: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    missing: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next_calls: Vec<Next>,
    reason: &'a str,
    recovery: &'a str,
    skill: &'a str,
    tool: &'a str,
}

/// The object at the end of a text: what the sentences before it do not say.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    current_phase: &'a str,
    error: &'a str,
    #[serde(skip_serializing_if = "<[Next]>::is_empty")]
    next_calls: &'a [Next],
    skill: &'a str,
    tool: &'a str,
}

/// A call that would be allowed now, as the agent makes it.
#[derive(Clone, Debug, Serialize)]
pub struct Next {
    /// The arguments.
    #[serde(skip_serializing_if = "is_empty")]
    pub input: Value,
    /// The name by which the agent calls the tool.
    pub tool: String,
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(Map::is_empty)
}

/// The text of a denial or a question.
#[must_use]
pub fn denial(decision: &Decision, native: impl Native) -> String {
    let head = match &decision.attempted {
        Some(attempted) => blocked("BLOCKED", decision, attempted),
        None if is_phase(decision) => format!("Phase violation: {}", decision.reason),
        None => headed(decision),
    };
    whole(decision, &head, native)
}

/// The text of a warning: the call goes on, and the agent is told what was wrong with it.
#[must_use]
pub fn warning(decision: &Decision, native: impl Native) -> String {
    let head = match &decision.attempted {
        Some(attempted) => blocked("WARNING", decision, attempted),
        None if is_phase(decision) => format!("Phase warning: {} (the call was let through)", decision.reason),
        None => headed(decision),
    };
    whole(decision, &head, native)
}

/// The text with as many suggested calls as it has room for.
fn whole(decision: &Decision, head: &str, native: impl Native) -> String {
    let mut calls: Vec<Next> = decision.next_calls.iter().filter_map(|call| native.call(call)).collect();
    loop {
        let end = if is_phase(decision) && decision.attempted.is_none() {
            tail(decision, &calls)
        } else {
            next_calls(&calls)
        };
        let text = join(&[head.to_owned(), recovery(decision), end]);
        if calls.len() < 2 || text.chars().count() <= MAX_CHARS {
            return text;
        }
        calls.pop();
    }
}

/// What the agent is told beside an answer: warnings first, then the obligations.
#[must_use]
pub fn context(verdict: &Verdict, native: impl Native) -> Option<String> {
    let warnings = verdict.warnings.iter().map(|decision| warning(decision, native));
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
pub fn held(decision: &Decision, verdict: &Verdict, native: impl Native) -> String {
    let parts = [Some(denial(decision, native)), context(verdict, native)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn is_phase(decision: &Decision) -> bool {
    decision.code.is_some_and(|code| code.area() == Area::Phase)
}

fn headed(decision: &Decision) -> String {
    match decision.code {
        Some(code) => format!("phasegate [{code}]: {}", decision.reason),
        None => format!("phasegate: {}", decision.reason),
    }
}

fn recovery(decision: &Decision) -> String {
    match (decision.recovery.as_str(), &decision.attempted) {
        ("", _) => String::new(),
        (text, Some(_)) => text.to_owned(),
        (text, None) => format!("Recovery: {text}"),
    }
}

/// The layout of seed 001, FR-009.
fn blocked(word: &str, decision: &Decision, attempted: &str) -> String {
    let phase = decision.phase.as_deref().unwrap_or_default();
    format!("{word}: {}\n\nCurrent phase: {phase}\nAttempted: {attempted}", decision.reason)
}

/// The text of a denial as an object, with the keys of the original system.
#[must_use]
pub fn structured(decision: &Decision, native: impl Native) -> Value {
    serde_json::to_value(of(decision, native)).unwrap_or_default()
}

fn tail(decision: &Decision, next_calls: &[Next]) -> String {
    json(&Tail {
        code: decision.code,
        current_phase: decision.phase.as_deref().unwrap_or_default(),
        error: error(decision),
        next_calls,
        skill: decision.skill.as_deref().unwrap_or_default(),
        tool: &decision.tool,
    })
}

fn error(decision: &Decision) -> &str {
    if is_phase(decision) { "phase_violation" } else { decision.code.map_or("denied", Code::id) }
}

fn of(decision: &Decision, native: impl Native) -> Details<'_> {
    Details {
        code: decision.code,
        current_phase: decision.phase.as_deref().unwrap_or_default(),
        error: error(decision),
        missing: &decision.missing,
        next_calls: decision.next_calls.iter().filter_map(|call| native.call(call)).collect(),
        reason: &decision.reason,
        recovery: &decision.recovery,
        skill: decision.skill.as_deref().unwrap_or_default(),
        tool: &decision.tool,
    }
}

fn next_calls(calls: &[Next]) -> String {
    if calls.is_empty() { String::new() } else { format!("Next calls: {}", json(&calls)) }
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
