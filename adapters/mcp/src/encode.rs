//! Decisions as the answers that a client gets.
//!
//! Nothing goes back where the message goes on as it is. A denied call is answered with a result that says so: an agent
//! reads it, which an error of the protocol need not reach.

use phasegate_adapter::{Message as Opened, Output, Problem, Received, Reply, Verdict};
use phasegate_core::{Code, Decision};
use serde_json::{Value, json};

use crate::call::{self, Call};
use crate::denial::{self, Form};
use crate::frame::{self, From};
use crate::id::Id;
use crate::message::{Kind, Malformed};
use crate::own;

/// The reply to a message with this verdict.
pub(crate) fn reply(opened: &Opened, verdict: &Verdict) -> Reply {
    let Ok((seen, _)) = frame::seen(opened) else { return Reply::Nothing };
    let (Some(message), From::Client) = (&seen.message, seen.from) else { return Reply::Nothing };
    let Some(id) = message.id().filter(|_| message.method() == Some(call::METHOD)) else { return Reply::Nothing };
    let Ok(call) = Call::read(message) else { return Reply::Nothing };
    let form = Form { modern: call.modern, declared: false };
    if own::is_own(&call.name) {
        let result = own::answer(verdict.result.as_ref(), verdict.decision.as_ref(), form);
        return line(&answered(id, &result));
    }
    if let Some(decision) = verdict.denial() {
        return line(&answered(id, &denial::denial(decision, &own_names).result(form)));
    }
    verdict.warnings.last().map_or(Reply::Nothing, |decision| told(&warning(decision)))
}

/// What is said of a call that goes on although something is wrong with it. No agent hears it: a client that only lists
/// and calls has no place for it.
pub(crate) fn warning(decision: &Decision) -> String {
    let code = decision.code.map(|code| format!(" [{code}]")).unwrap_or_default();
    format!("phasegate{code}: {} (the call was let through)", decision.reason)
}

/// A denial of what cannot be decided.
pub(crate) fn refuse(received: Received<'_>, problem: &Problem) -> Reply {
    let seen = received.message().and_then(|opened| frame::seen(opened).ok());
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
    Reply::Output(Output { stdout: format!("{json}\n").into_bytes(), ..Output::default() })
}

fn told(text: &str) -> Reply {
    Reply::Output(Output { stderr: format!("{text}\n").into_bytes(), ..Output::default() })
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
