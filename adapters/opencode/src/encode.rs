//! Decisions as what the plugin must do.
//!
//! A reply is one JSON object, or nothing where there is nothing to say:
//! * `deny`: the call must not run. The plugin throws this text, and the agent reads it with nothing added. Before anything
//!   else than a call the client lets nothing be refused, or breaks when it is: there the plugin tells it to the user and
//!   the agent.
//! * `context`: what the agent is to be told besides.
//! * `tell`: what the user is to be told.
//!
//! A plugin cannot have the user asked, so a question is a denial with the question in it.

use phasegate_adapter::{Frame, Problem, Reply, text};
use phasegate_core::{Decision, Effect, Outcome};
use serde::Serialize;

use crate::tools;

#[derive(Default, Serialize)]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tell: Option<&'a str>,
}

/// The reply to a frame whose events led to `steps`.
pub(crate) fn encode(_frame: &Frame, steps: &[Outcome]) -> Reply {
    let context = text::context(steps, tools::native);
    let decisions = || steps.iter().filter_map(|step| step.decision.as_ref());
    if let Some(decision) = decisions().filter(|decision| !decision.lets_through()).max_by_key(|one| one.effect) {
        let denial = text::denial(decision, tools::native);
        return json(&Output { deny: Some(&denial), context: context.as_deref(), tell: None });
    }
    let warning = decisions().find(|decision| decision.effect == Effect::Warn).map(warned);
    let told = answer(steps).or(warning.as_deref());
    let context = match (answer(steps), context) {
        (Some(answer), Some(context)) => Some(format!("{answer}\n\n{context}")),
        (answer, context) => context.or(answer.map(str::to_owned)),
    };
    if told.is_none() && context.is_none() {
        return Reply::silent();
    }
    json(&Output { deny: None, context: context.as_deref(), tell: told })
}

/// The reply when nothing else works.
pub(crate) fn refuse(problem: &Problem) -> Reply {
    json(&Output { deny: Some(&problem.text()), ..Output::default() })
}

/// The reply that lets the call go on and tells the problem.
pub(crate) fn warn(problem: &Problem) -> Reply {
    let text = problem.text();
    json(&Output { deny: None, context: Some(&text), tell: Some(&text) })
}

/// What the user reads of a warning: not what the agent would have to do.
fn warned(decision: &Decision) -> String {
    format!("phasegate: {} (the call was let through)", decision.reason)
}

/// What came of a command that the user typed.
fn answer(steps: &[Outcome]) -> Option<&str> {
    steps.iter().filter_map(|step| step.result.as_ref()).find_map(|result| result.get("text")?.as_str())
}

fn json(output: &Output<'_>) -> Reply {
    // Writing text cannot fail; if it did, what is left is no answer, and the plugin denies.
    let mut stdout = serde_json::to_vec(output).unwrap_or_else(|_| b"?".to_vec());
    stdout.push(b'\n');
    Reply { stdout, stderr: Vec::new(), status: if output.deny.is_some() { 2 } else { 0 } }
}
