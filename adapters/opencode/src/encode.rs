//! Verdicts as what the plugin must do.
//!
//! A reply is one JSON object, or nothing where there is nothing to say:
//! * `deny`: the call must not run. The plugin throws this text, and the agent reads it with nothing added. Before anything
//!   else than a call the client lets nothing be refused, or breaks when it is: there the plugin tells it to the user and
//!   the agent.
//! * `ends`: beside `deny`; the plugin also has the client end the turn.
//! * `go_on`: the plugin has the agent go on with this text as its next prompt.
//! * `context`: what the agent is to be told besides.
//! * `tell`: what the user is to be told.
//!
//! A plugin cannot have the user asked, so a question is a denial with the question in it.

use phasegate_adapter::{Message, Problem, Reply, Verdict, text};
use phasegate_core::{Code, Decision};
use serde::Serialize;

#[derive(Default, Serialize)]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ends: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    go_on: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tell: Option<&'a str>,
}

/// The reply to a message with this verdict.
pub(crate) fn reply(message: &Message, verdict: &Verdict) -> Reply {
    if message.event == "session.idle" {
        return stopped(verdict);
    }
    let context = text::context(verdict);
    if let Some(decision) = verdict.denial() {
        let denial = text::denial(decision);
        let ends = decision.ends_turn;
        let output = Output { deny: Some(&denial), ends, context: context.as_deref(), ..Output::default() };
        return Reply::json(&output, true);
    }
    let warning = verdict.warnings.first().map(warned);
    let told = verdict.text().or(warning.as_deref());
    let context = match (verdict.text(), context) {
        (Some(answer), Some(context)) => Some(format!("{answer}\n\n{context}")),
        (answer, context) => context.or(answer.map(str::to_owned)),
    };
    if told.is_none() && context.is_none() {
        return Reply::Nothing;
    }
    Reply::json(&Output { context: context.as_deref(), tell: told, ..Output::default() }, false)
}

/// The answer to the end of a turn: the agent goes on, or the user is told. What the user is told is not for the agent.
fn stopped(verdict: &Verdict) -> Reply {
    if let Some(decision) = verdict.denial() {
        let text = text::held(decision, verdict);
        return match decision.code {
            Some(Code::Unfinished) => Reply::json(&Output { go_on: Some(&text), ..Output::default() }, false),
            _ => Reply::json(&Output { tell: Some(&text), ..Output::default() }, false),
        };
    }
    match verdict.text() {
        Some(text) => Reply::json(&Output { tell: Some(text), ..Output::default() }, false),
        None => Reply::Nothing,
    }
}

/// A denial of what cannot be decided.
pub(crate) fn refuse(problem: &Problem) -> Reply {
    Reply::json(&Output { deny: Some(&problem.text()), ..Output::default() }, true)
}

/// The reply that lets the call go on and reports the problem.
pub(crate) fn warn(problem: &Problem) -> Reply {
    let text = problem.text();
    Reply::json(&Output { context: Some(&text), tell: Some(&text), ..Output::default() }, false)
}

/// What the user reads of a warning: not what the agent would have to do.
fn warned(decision: &Decision) -> String {
    format!("phasegate: {} (the call was let through)", decision.reason)
}
