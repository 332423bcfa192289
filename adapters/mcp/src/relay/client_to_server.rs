//! From the client to the servers.

use futures_util::StreamExt as _;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use phasegate_core::Code;
use phasegate_core::events::event::Outcome;
use tokio::sync::mpsc::Receiver;

use super::act::{Act, Asked};
use super::elicitation::Answer;
use super::ending::{ended, gone};
use super::pending::{ListPage, OpenCall, Pending};
use super::shared::Shared;
use super::{call, elicitation, fan_out, local, multiplexed};
use crate::encode;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::tool_call::{METHOD, modern, passes_for_a_call};
use crate::message::{Kind, Malformed, Message};
use crate::wire::link::Arrived;

/// How many messages are decided at once.
const MAX_DECIDED_AT_ONCE: usize = 256;

/// Takes what the client sends until it sends no more.
pub(super) async fn run(shared: &Shared, mut from: Receiver<Arrived>) {
    // Boxed: the queue keeps room for a future of its own, also while it is empty, and so does this one for what it calls.
    let mut deciding = FuturesOrdered::new();
    // A call that waits for a person holds up no other.
    let mut asking = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            Some(act) = deciding.next(), if !deciding.is_empty() => match act {
                Act::Question(asked) => asking.push(Box::pin(question(shared, asked))),
                act => Box::pin(apply(shared, act)).await,
            },
            Some(act) = asking.next(), if !asking.is_empty() => Box::pin(apply(shared, act)).await,
            arrived = from.recv(), if deciding.len() < MAX_DECIDED_AT_ONCE => match arrived {
                Some(arrived) => deciding.push_back(Box::pin(take(shared, arrived))),
                None => break,
            },
        }
    }
    while let Some(act) = deciding.next().await {
        Box::pin(apply(shared, act)).await;
    }
}

/// Asks the client's user, and handles the call as the answer says.
async fn question(shared: &Shared, asked: Box<Asked>) -> Act {
    match elicitation::put(shared, asked).await {
        Answer::Yes(asked) => call::decide_again(shared, *asked).await,
        Answer::No(act) => act,
    }
}

async fn take(shared: &Shared, arrived: Arrived) -> Act {
    let message = match arrived {
        Ok(routed) => routed.message,
        Err(malformed) => return unreadable(shared, &malformed),
    };
    shared.begin().await;
    let method = message.method().unwrap_or_default().to_owned();
    if passes_for_a_call(&method) {
        return refused(&message, -32601, &format!("there is no method `{method}`; a tool is called by `{METHOD}`"));
    }
    match (message.kind(), message.id().cloned()) {
        (Kind::Request, Some(id)) => request(shared, message, id, &method).await,
        (Kind::Notification, _) => notification(shared, message, &method),
        (Kind::Result | Kind::Error, Some(_)) if elicitation::answered(shared, &message) => Act::Drop,
        _ if shared.servers.len() > 1 => multiplexed::answered(shared, message),
        _ => Act::Tell(0, message),
    }
}

async fn request(shared: &Shared, message: Message, id: Id, method: &str) -> Act {
    if shared.table().open.contains_key(&id) {
        let text = format!("the id {id} is that of a request that was not answered yet");
        return Act::Object(encode::failed(Some(&id), -32600, &text, Some(Code::BadInput)));
    }
    shared.table().open.insert(id.clone(), None);
    if method == METHOD {
        return call::decide(shared, message, id).await;
    }
    if method == "initialize" {
        let elicits = elicitation::is_offered(&message);
        let mut table = shared.table();
        (table.initialized, table.elicits) = (true, elicits);
    }
    match shared.servers.len() {
        0 => return local::answer(shared, &message, id, method),
        1 => {}
        _ => return multiplexed::route(shared, message, id, method),
    }
    let pending = match method {
        "tools/list" => {
            let params = Object::read(message.content()).unwrap_or_default();
            Pending::Tools(ListPage { first: params.get("cursor").is_none(), modern: modern(&message) })
        }
        "initialize" | "server/discover" => Pending::Initialize,
        "tasks/get" | "tasks/result" => {
            let task = Object::read(message.content()).ok().and_then(|params| params.text("taskId"));
            task.map_or(Pending::Plain, Pending::Task)
        }
        "subscriptions/listen" => {
            listen(shared, &message, &id);
            Pending::Plain
        }
        _ => Pending::Plain,
    };
    Act::Ask(0, message, pending)
}

/// Notes a subscription that asks for changed lists of tools.
fn listen(shared: &Shared, message: &Message, id: &Id) {
    let asks = || {
        let wanted: serde_json::Value = serde_json::from_slice(message.content()).ok()?;
        wanted.get("notifications")?.get("toolsListChanged")?.as_bool()
    };
    if asks() == Some(true) {
        shared.table().listening.push(id.clone());
    }
}

fn notification(shared: &Shared, message: Message, method: &str) -> Act {
    match method {
        // The server would execute it, and there would be no way to answer a denial.
        METHOD => {
            tracing::warn!("a `{METHOD}` without an id was dropped");
            Act::Drop
        }
        "notifications/cancelled" => Act::Cancel(message),
        _ if shared.servers.len() > 1 => multiplexed::told(shared, message, method),
        _ => Act::Tell(0, message),
    }
}

fn refused(message: &Message, number: i64, text: &str) -> Act {
    match (message.kind(), message.id()) {
        (Kind::Request, Some(id)) => Act::Object(encode::failed(Some(id), number, text, Some(Code::BadInput))),
        _ => {
            tracing::warn!("dropped: {text}");
            Act::Drop
        }
    }
}

/// Bytes that are no message get an error; under the id of an open request it would pass for that one's answer.
fn unreadable(shared: &Shared, malformed: &Malformed) -> Act {
    let taken = malformed.id.as_ref().is_some_and(|id| shared.table().open.contains_key(id));
    let id = if taken { None } else { malformed.id.clone() };
    Act::Object(encode::malformed(&Malformed { id, ..malformed.clone() }))
}

async fn apply(shared: &Shared, act: Act) {
    match act {
        Act::Ask(server, message, pending) => ask(shared, server, message, pending).await,
        Act::Tell(server, message) => drop(shared.send(server, message).await),
        Act::TellAll(message) => {
            for server in 0..shared.servers.len() {
                shared.send(server, message.clone()).await;
            }
        }
        Act::FanOut(fan_out, parts) => fan_out::ask(shared, fan_out, parts).await,
        Act::Answer(id, json) => shared.answer(&id, json).await,
        Act::Object(json) => {
            if let Some(message) = Message::made(json) {
                let related = message.id().cloned();
                shared.tell(message, related).await;
            }
        }
        Act::Cancel(message) => cancel(shared, message).await,
        // Those of a client that is gone are put to nobody.
        Act::Question(_) | Act::Drop => {}
    }
    shared.tell_changes().await;
}

async fn ask(shared: &Shared, server: usize, message: Message, pending: Pending) {
    let Some(id) = message.id().cloned() else { return };
    {
        let mut table = shared.table();
        table.open.insert(id.clone(), Some(server));
        table.pending.insert((server, id.clone()), pending);
    }
    if !shared.send(server, message).await {
        gone(shared, server, &id).await;
    }
}

async fn cancel(shared: &Shared, message: Message) {
    let id = Object::read(message.content()).ok().and_then(|params| Id::read(params.get("requestId")?.as_bytes()));
    let Some(id) = id else { return };
    elicitation::cancelled(shared, &id);
    if fan_out::cancelled(shared, &id, &message).await {
        return;
    }
    let (server, call) = {
        let mut table = shared.table();
        table.listening.retain(|listening| *listening != id);
        let Some(server) = table.open.get(&id).copied().flatten() else { return };
        table.given_up.insert(id.clone());
        // An answer that comes all the same is passed on, and proves nothing.
        let pending = table.pending.get_mut(&(server, id));
        let call = match pending {
            Some(Pending::Call(call)) => Some(OpenCall::clone(call)),
            _ => None,
        };
        if let (Some(pending), true) = (pending, call.is_some()) {
            *pending = Pending::Plain;
        }
        (server, call)
    };
    if let Some(call) = call {
        ended(shared, call, Outcome::Cancelled).await;
    }
    shared.send(server, message).await;
}
