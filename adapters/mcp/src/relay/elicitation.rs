//! Questions: a call that the policy has a person asked about is put to the client's user, where the client can ask them.
//!
//! A yes is a command of the person for this one call, which is then decided again. Anything else is a no, silence too.

use std::time::Duration;

use phasegate_adapter::guarded::{Denial, GuardedSession};
use phasegate_core::events::event::By;
use phasegate_core::{Decision, Effect, EventKind};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::act::{Act, Asked};
use super::shared::Shared;
use crate::denial;
use crate::encode;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::{Kind, Message};

/// How long a question waits for an answer.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Whether the client's handshake says that it puts questions to its user, as a form.
pub(super) fn is_offered(initialize: &Message) -> bool {
    let params: Value = serde_json::from_slice(initialize.content()).unwrap_or_default();
    match params.pointer("/capabilities/elicitation").and_then(Value::as_object) {
        // A client of the first revision names no form.
        Some(modes) => modes.is_empty() || modes.contains_key("form"),
        None => false,
    }
}

/// The question that the answer to a call is, where it can be put to the client's user.
pub(super) fn question(shared: &Shared, why: &Denial) -> Option<Box<Decision>> {
    let Denial::Decision(decision) = why else { return None };
    let can_ask = decision.effect == Effect::Ask && decision.question.is_some() && shared.table().elicits;
    can_ask.then(|| decision.clone())
}

/// Ends the call of a question that is put to nobody.
pub(super) async fn unasked(shared: &Shared, session: &GuardedSession, why: &Denial, call: &str) {
    if matches!(why, Denial::Decision(decision) if decision.effect == Effect::Ask) {
        shared.calls.refused(session, call).await;
    }
}

/// Takes the client's answer to a question of ours; `false`: it is not one.
pub(super) fn answered(shared: &Shared, message: &Message) -> bool {
    let Some(id) = message.id() else { return false };
    let Some(waiting) = shared.table().questions.remove(id) else { return false };
    let says = || Object::read(message.content()).ok()?.text("action");
    let yes = message.kind() == Kind::Result && says().as_deref() == Some("accept");
    // A call that was given up waits for nothing.
    let _ = waiting.send(yes);
    true
}

/// The call that waits for this request was given up by the client.
pub(super) fn cancelled(shared: &Shared, request: &Id) {
    let mut table = shared.table();
    let question = table.questioned.remove(request);
    question.and_then(|question| table.questions.remove(&question));
}

/// What became of a call that a person was asked about.
pub(super) enum Answer {
    /// They said yes: it is decided again.
    Yes(Box<Asked>),
    /// It is denied.
    No(Act),
}

/// Puts the question.
pub(super) async fn put(shared: &Shared, asked: Box<Asked>) -> Answer {
    let answer = ask(shared, &asked).await;
    if answer == Some(true) && allowed(shared, &asked).await {
        return Answer::Yes(asked);
    }
    shared.calls.refused(&asked.session, &asked.call).await;
    let Asked { mut decision, id, tool, form, .. } = *asked;
    if answer.is_some() {
        decision.recovery = "The user said no to this call: go on without it.".to_owned();
    }
    let denied = denial::of(&Denial::Decision(decision), &tool);
    Answer::No(Act::Answer(id.clone(), encode::answered(&id, &denied.result(form))))
}

/// The answer of the user; `None`: there was none in time, or the client gave the call up.
async fn ask(shared: &Shared, asked: &Asked) -> Option<bool> {
    let question = Id::Text(shared.calls.fresh_id());
    let (answer, waiting) = oneshot::channel();
    {
        let mut table = shared.table();
        table.questions.insert(question.clone(), answer);
        table.questioned.insert(asked.id.clone(), question.clone());
    }
    let text = format!("phasegate asks ({}): {}", asked.tool, asked.decision.reason);
    let params = json!({"message": text, "requestedSchema": {"type": "object", "properties": {}}});
    let request = json!({"jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": params});
    if let Some(message) = Message::made(request.to_string()) {
        shared.tell(message, Some(asked.id.clone())).await;
    }
    let answer = tokio::time::timeout(MAX_WAIT, waiting).await;
    let late = answer.is_err();
    {
        let mut table = shared.table();
        table.questions.remove(&question);
        table.questioned.remove(&asked.id);
    }
    if late {
        let params = json!({"requestId": question, "reason": "nobody answered in time"});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        if let Some(message) = Message::made(cancel.to_string()) {
            shared.tell(message, Some(asked.id.clone())).await;
        }
    }
    answer.ok()?.ok()
}

/// Gives the person's yes to the guard.
async fn allowed(shared: &Shared, asked: &Asked) -> bool {
    let args = json!({"name": asked.decision.question});
    let command = EventKind::Command { by: By::Human, name: "approve".to_owned(), args };
    let step = shared.give(&asked.session, command).await;
    matches!(step, Ok(Some(step)) if step.decision.is_none())
}
