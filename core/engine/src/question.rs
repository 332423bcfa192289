//! Questions: calls that a person is asked about, and the yes that lets one of them run (rules 3.6).
//!
//! Where the platform asks, its user answers there, and the call's outcome shows what the answer was. Everywhere else a
//! person answers by the name of the call, and the agent makes the same call again.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::json;

use crate::asked::{Question, Yes};
use crate::cause::By;
use crate::change::Change;
use crate::decision::{Decision, Effect};
use crate::denial::{DenialKind, InvalidCommand};
use crate::draft::Draft;
use crate::event::Event;
use crate::phrase;
use crate::redacted::digest;
use crate::rendering;
use crate::state::Session;
use crate::tool::Call;

/// What the name of a call begins with that a person is asked about.
pub(crate) const PREFIX: &str = "call:";

/// How long a yes lasts that was given by name, in milliseconds.
const YES_LASTS_MS: i64 = 10 * 60 * 1000;

/// How many digits of the digest are in a name.
const DIGITS: usize = 8;

/// The name of a call that a person is asked about: the same for the same call of the same agent.
fn name(call: &Call, event: &Event) -> String {
    let input = match &call.analysis.redacted {
        Some(before) => before.digest.clone(),
        None => digest(&call.input),
    };
    let whole = digest(&json!([call.tool.name, call.tool.server, input, event.subagent()]));
    let digits: String = whole.chars().filter(char::is_ascii_hexdigit).take(DIGITS).collect();
    format!("{PREFIX}{digits}")
}

/// Whether the question has a yes that lasts: both times are known, and the call comes after the yes.
fn is_answered(session: &Session, name: &str, now: Option<i64>) -> bool {
    let known = session.questions.iter().find(|question| question.name == name);
    let yes = known.and_then(|question| question.yes.as_ref()).and_then(|yes| yes.at);
    yes.zip(now).is_some_and(|(yes, now)| (0..=YES_LASTS_MS).contains(&now.saturating_sub(yes)))
}

/// The answer to the call, where nothing but a question stands against it and a person has said yes to this very call.
pub(crate) fn answered(draft: &Draft, call: &Call, event: &Event, denied: Option<Decision>) -> Option<Decision> {
    let asks = denied.as_ref().is_some_and(|decision| decision.effect == Effect::Ask);
    denied.filter(|_| !(asks && is_answered(&draft.state().session, &name(call, event), event.time)))
}

/// Keeps the question that the decision is, so that a person can answer it by name; a yes that let the call through is
/// spent.
pub(crate) fn keep(draft: &mut Draft, call: &Call, event: &Event, decision: &mut Decision) {
    let is_question = decision.effect == Effect::Ask;
    if !is_question && draft.state().session.questions.is_empty() {
        return;
    }
    let name = name(call, event);
    if is_question {
        decision.recovery = rendering::asked(&decision.recovery, &name);
        decision.question = Some(name.clone());
        let (tool, of) = (call.tool.name.clone(), shown(call));
        let (skill, phase) = (decision.skill.clone(), decision.phase.clone());
        draft.change(Change::QuestionAsked(Question { name, tool, of, skill, phase, at: event.time, yes: None }));
    } else if decision.lets_through() && draft.state().session.questions.iter().any(|one| one.name == name) {
        draft.change(Change::QuestionClosed { name });
    }
}

/// The call as a person reads it, in short.
fn shown(call: &Call) -> String {
    let command = call.input.get("command").and_then(serde_json::Value::as_str);
    let input = command.map_or_else(|| call.input.to_string(), ToString::to_string);
    format!("{} {}", call.tool.name, phrase::shortened(&input))
}

/// The yes of a person, by the name of the call. `None`: it is not the name of a call.
pub(crate) fn answer(draft: &mut Draft, name: &str, at: Option<i64>) -> Option<Result<Question, DenialKind>> {
    if !name.starts_with(PREFIX) {
        return None;
    }
    let Some(question) = draft.state().session.questions.iter().find(|question| question.name == name).cloned() else {
        let waiting = draft.state().session.questions.iter().map(|question| question.name.clone()).collect::<Vec<_>>();
        let why = InvalidCommand::NothingWaits { name: name.to_string(), waiting };
        return Some(Err(DenialKind::CommandInvalid(why)));
    };
    draft.change(Change::QuestionAnswered { name: name.to_string(), yes: Yes { by: By::Human, at } });
    Some(Ok(question))
}

/// Takes a yes back, or says no. `None`: it is not the name of a call.
pub(crate) fn refuse(draft: &mut Draft, name: &str) -> Option<Question> {
    let question = draft.state().session.questions.iter().find(|question| question.name == name).cloned()?;
    draft.change(Change::QuestionClosed { name: name.to_string() });
    Some(question)
}
