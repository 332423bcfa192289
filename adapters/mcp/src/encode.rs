//! Decisions as the answers that a client gets.
//!
//! Nothing goes back where the message goes on as it is. A denied call is answered with a result that says so: an agent
//! reads it, which an error of the protocol need not reach.

use phasegate_adapter::{Frame, Problem, Reply};
use phasegate_core::{Code, Decision, Effect, Outcome};
use serde_json::{Value, json};

use crate::call::{self, Call};
use crate::denial::{self, Form};
use crate::frame::{self, From};
use crate::id::Id;
use crate::message::{Kind, Malformed};
use crate::own;

/// The reply to a frame whose events led to `steps`.
pub(crate) fn encode(frame: &Frame, steps: &[Outcome]) -> Reply {
    let Ok((seen, _)) = frame::read(frame) else { return Reply::silent() };
    let (Some(message), From::Client) = (&seen.message, seen.from) else { return Reply::silent() };
    let Some(id) = message.id().filter(|_| message.method() == Some(call::METHOD)) else { return Reply::silent() };
    let Ok(call) = Call::read(message) else { return Reply::silent() };
    let form = Form { modern: call.modern, declared: false };
    if let (true, Some(step)) = (own::is_own(&call.name), steps.last()) {
        return line(&answered(id, &own::result(step, form)));
    }
    let strictest = steps.iter().filter_map(|step| step.decision.as_ref()).max_by_key(|decision| decision.effect);
    match strictest {
        Some(decision) if !decision.lets_through() => {
            line(&answered(id, &denial::denial(decision, &own_names).result(form)))
        }
        Some(decision) if decision.effect == Effect::Warn => told(&warning(decision)),
        _ => Reply::silent(),
    }
}

/// What is said of a call that goes on although something is wrong with it. No agent hears it: a client that only lists
/// and calls has no place for it.
pub(crate) fn warning(decision: &Decision) -> String {
    let code = decision.code.map(|code| format!(" [{code}]")).unwrap_or_default();
    format!("phasegate{code}: {} (the call was let through)", decision.reason)
}

/// The reply when nothing else works.
pub(crate) fn refuse(frame: &Frame, problem: &Problem) -> Reply {
    let seen = frame::read(frame).ok();
    if let Some(message) = seen.as_ref().and_then(|(seen, _)| seen.message.as_ref()) {
        let called = (message.method() == Some(call::METHOD)).then(|| Call::read(message).ok()).flatten();
        if let (Some(id), Some(call)) = (message.id(), called) {
            let form = Form { modern: call.modern, declared: false };
            return line(&answered(id, &denial::problem(&call.name, problem).result(form)));
        }
        if !matches!(message.kind(), Kind::Request) {
            return told(&problem.text());
        }
        return line(&failed(message.id(), -32600, &problem.text(), Some(problem.code)));
    }
    line(&failed(None, -32600, &problem.text(), Some(problem.code)))
}

/// The reply that lets the message go on and tells the problem.
pub(crate) fn warn(problem: &Problem) -> Reply {
    told(&problem.text())
}

fn line(json: &str) -> Reply {
    Reply { stdout: format!("{json}\n").into_bytes(), ..Reply::silent() }
}

fn told(text: &str) -> Reply {
    Reply { stderr: format!("{text}\n").into_bytes(), ..Reply::silent() }
}

/// In a frame, a tool has the name that its server gave it.
fn own_names(tool: &str, _server: Option<&str>) -> String {
    tool.to_owned()
}

/// The answer to a request: this result.
#[must_use]
pub fn answered(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The answer to a request: this error. Without an id where the request's could not be read.
#[must_use]
pub fn failed(id: Option<&Id>, number: i64, text: &str, code: Option<Code>) -> String {
    let id = id.map_or_else(|| "null".to_owned(), Id::json);
    let mut error = json!({"code": number, "message": text});
    if let (Value::Object(fields), Some(code)) = (&mut error, code) {
        fields.insert("data".to_owned(), json!({"code": code}));
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// The answer to bytes that are no message.
#[must_use]
pub fn malformed(malformed: &Malformed) -> String {
    failed(malformed.id.as_ref(), malformed.fault.number(), &malformed.text, Some(Code::BadInput))
}
