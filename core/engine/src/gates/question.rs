//! Questions: calls that a person is asked about, and the yes that lets one of them run (rules 3.6).
//!
//! Where the platform asks, its user answers there, and the call's outcome shows what the answer was. Everywhere else a
//! person answers by the name of the call, and the agent makes the same call again. So a person also lets a denied call pass.

use serde_json::{Value, json};

use crate::answers::decision::{Decision, Effect, Gate};
use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::answers::phrase;
use crate::answers::rendering;
use crate::answers::subject;
use crate::calls::cause::By;
use crate::calls::tool::Call;
use crate::events::event::Event;
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::Session;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::redacted_tests::sha256_hex;
use crate::state::unfinished_calls::{Lift, Question, Yes};
use crate::values::one_line::one_line;

/// What the name of a call begins with that a person is asked about.
pub(crate) const PREFIX: &str = "call:";

/// How long a yes lasts that was given by name, in milliseconds.
const YES_LASTS_MS: i64 = 10 * 60 * 1000;

/// How long it lasts that a person let a denied call pass, in milliseconds.
const LIFT_LASTS_MS: i64 = 30 * 60 * 1000;
/// The most characters of a denied call that are kept.
const MAX_KEPT_CHARS: usize = 200;

/// How many digits of the digest are in a name.
const DIGITS: usize = 8;
/// The most characters of a call that a person is shown.
const MAX_SHOWN_CHARS: usize = 2000;

/// The SHA-256 digest of the call, of who makes it and of the folder in which: another tool, other arguments, another agent
/// or another folder give another one. A yes is bound to it, as an agent chooses its calls.
fn identity(call: &Call, event: &Event) -> String {
    let digest = digest(call, event);
    event.cwd.as_ref().map_or_else(|| digest.clone(), |folder| sha256_hex(&json!([digest, folder])))
}

/// The digest of the call and of who makes it.
fn digest(call: &Call, event: &Event) -> String {
    let input = match &call.analysis.redacted {
        Some(before) => before.sha256.clone(),
        None => sha256_hex(&call.input),
    };
    sha256_hex(&json!([call.tool.name, call.tool.server, input, event.subagent()]))
}

/// The question about this call that is kept.
fn of_call<'s>(session: &'s Session, identity: &str) -> Option<&'s Question> {
    session.questions.iter().find(|question| question.call == identity)
}

/// The name of a question that is asked for the first time. No other question of the session ever has its number, so a
/// person who answers by name means the call that was shown under it.
fn new_name(session: &Session, digest: &str) -> String {
    let digits: String = digest.chars().take(DIGITS).collect();
    format!("{PREFIX}{}-{digits}", session.questions_asked + 1)
}

/// Whether the call has a yes that lasts so long: both times are known, and the call comes after the yes.
fn is_answered(session: &Session, identity: &str, now: Option<i64>, lasts: i64) -> bool {
    let yes = of_call(session, identity).and_then(|question| question.yes.as_ref()).and_then(|yes| yes.at);
    yes.zip(now).is_some_and(|(yes, now)| (0..=lasts).contains(&now.saturating_sub(yes)))
}

/// The answer to the call, where nothing but a question stands against it and a person has said yes to this very call.
pub(crate) fn answered(draft: &Draft, call: &Call, event: &Event, denied: Option<Decision>) -> Option<Decision> {
    let asks = denied.as_ref().is_some_and(|decision| decision.effect == Effect::Ask);
    denied.filter(|_| !(asks && is_answered(&draft.state().session, &identity(call, event), event.time, YES_LASTS_MS)))
}

/// What a person may let pass of a denied call: what a skill says, and rules unless the machine has some. What protects the
/// guard, and what people set for all sessions, is not lifted by a word about one call.
pub(crate) fn lift(policy: &Policy, call: &Call, event: &Event, decision: &Decision) -> Option<Lift> {
    let of_machine = || policy.rules.iter().flat_map(|rules| &rules.levels).any(|level| level.machine);
    let is_theirs = match decision.gate {
        Some(Gate::Phase) => true,
        Some(Gate::Rules) => !of_machine(),
        _ => false,
    };
    if !is_theirs || decision.effect != Effect::Deny {
        return None;
    }
    // Of a file's tool the same files are the same call, whatever it writes there.
    let files = call.analysis.commands.is_empty() && !call.analysis.paths.is_empty();
    let of = if files { json!(call.analysis.paths) } else { json!(digest(call, event)) };
    let who = json!([call.tool.name, call.tool.server, event.subagent(), event.cwd]);
    let why = json!([decision.code, decision.skill, decision.admission]);
    let shown = phrase::cut(&subject::of_call(call), MAX_KEPT_CHARS);
    Some(Lift { call: sha256_hex(&json!([who, of, why])), of: shown, skill: decision.skill.clone() })
}

/// The name under which a person let this denied call pass, where that lasts.
pub(crate) fn lifted(draft: &Draft, lift: &Lift, event: &Event) -> Option<String> {
    let session = &draft.state().session;
    let question = of_call(session, &lift.call)?;
    is_answered(session, &lift.call, event.time, LIFT_LASTS_MS).then(|| question.name.clone())
}

/// Lets the call pass once that was denied last, for a person.
pub(crate) fn allow(draft: &mut Draft, why: Option<&str>, at: Option<i64>) -> Result<Value, DenialKind> {
    let session = &draft.state().session;
    let last = session.denied.last().and_then(|denied| Some((denied.tool.clone(), denied.lift.as_deref()?.clone())));
    let Some((tool, Lift { call, of, skill })) = last else {
        return Err(DenialKind::CommandInvalid(InvalidCommand::NothingDenied));
    };
    let name = of_call(session, &call).map_or_else(|| new_name(session, &call), |known| known.name.clone());
    let yes = Some(Yes { by: By::Human, at });
    let answer = json!({"status": "allowed", "name": name, "of": of, "skill": skill, "why": why});
    // It outlives the run: one that begins anew may deny the same call.
    draft.change(Change::QuestionAsked(Question { name, call, tool, of, skill: None, phase: None, at, yes }));
    Ok(answer)
}

/// Keeps the question that the decision is, so that a person can answer it by name; a yes that let the call through is
/// spent.
pub(crate) fn keep(draft: &mut Draft, call: &Call, event: &Event, decision: &mut Decision) {
    let is_question = decision.effect == Effect::Ask;
    if !is_question && draft.state().session.questions.is_empty() {
        return;
    }
    let identity = identity(call, event);
    let known = of_call(&draft.state().session, &identity).map(|question| question.name.clone());
    if is_question {
        let name = known.unwrap_or_else(|| new_name(&draft.state().session, &digest(call, event)));
        decision.recovery = rendering::asked(decision, &name);
        decision.question = Some(name.clone());
        let (tool, of) = (call.tool.name.clone(), shown(call));
        let (skill, phase) = (decision.skill.clone(), decision.phase.clone());
        let question = Question { name, call: identity, tool, of, skill, phase, at: event.time, yes: None };
        draft.change(Change::QuestionAsked(question));
    } else if let Some(name) = known.filter(|_| decision.lets_through()) {
        draft.change(Change::QuestionClosed { name });
    }
}

/// The call as a person reads it: on one line, and whole unless it is very long.
fn shown(call: &Call) -> String {
    let command = call.command().and_then(Value::as_str);
    let input = command.map_or_else(|| call.input.to_string(), ToString::to_string);
    format!("{} {}", call.tool.name, phrase::cut(&one_line(&input), MAX_SHOWN_CHARS))
}

/// Drops what nobody has to answer any more: a question of a skill of which no run is live, or one without an answer of a
/// phase that was left.
pub(crate) fn drop_stale(draft: &mut Draft) {
    let state = draft.state();
    let asks = |question: &Question, skill: &str| {
        let mut live = state.live_runs().filter(|run| run.skill == skill);
        live.any(|run| question.yes.is_some() || question.phase.as_ref().is_none_or(|phase| run.phase == *phase))
    };
    let stale = |question: &&Question| question.skill.as_deref().is_some_and(|skill| !asks(question, skill));
    let names: Vec<String> = state.session.questions.iter().filter(stale).map(|one| one.name.clone()).collect();
    names.into_iter().for_each(|name| draft.change(Change::QuestionClosed { name }));
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
