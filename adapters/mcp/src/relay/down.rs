//! From the client to the servers.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use phasegate_core::Code;
use phasegate_core::event::Outcome;
use tokio::sync::mpsc::Receiver;

use super::gather::{self, Gather};
use super::shared::{OpenCall, Pending, Shared, warn_of};
use super::{alone, call, several};
use crate::call::{METHOD, modern, passes_for_a_call};
use crate::encode;
use crate::id::Id;
use crate::link::Arrived;
use crate::message::{Kind, Malformed, Message};
use crate::object::Object;

/// How many messages are decided at once.
const AT_ONCE: usize = 256;

/// What becomes of a message of the client.
pub(super) enum Act {
    /// It goes to this server, and its answer means something.
    Ask(usize, Message, Pending),
    /// It goes to this server and asks nothing.
    Tell(usize, Message),
    /// It goes to all servers and asks nothing.
    TellAll(Message),
    /// Each of several servers is asked its part.
    Gather(Gather, Vec<(usize, Message)>),
    /// The request is answered here.
    Answer(Id, String),
    /// It is answered here, as no request is known to which the answer belongs.
    Object(String),
    /// The client gave up a request.
    Cancel(Message),
    /// Nothing.
    Drop,
}

/// Takes what the client sends until it sends no more.
pub(super) async fn run(shared: &Shared, mut from: Receiver<Arrived>) {
    let mut deciding = FuturesOrdered::new();
    loop {
        tokio::select! {
            biased;
            Some(act) = deciding.next(), if !deciding.is_empty() => carry_out(shared, act).await,
            arrived = from.recv(), if deciding.len() < AT_ONCE => match arrived {
                Some(arrived) => deciding.push_back(take(shared, arrived)),
                None => break,
            },
        }
    }
    while let Some(act) = deciding.next().await {
        carry_out(shared, act).await;
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
        _ if shared.servers.len() > 1 => several::answered(shared, message),
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
        shared.table().greeted = true;
    }
    match shared.servers.len() {
        0 => return alone::answer(shared, &message, id, method).await,
        1 => {}
        _ => return several::route(shared, message, id, method),
    }
    let pending = match method {
        "tools/list" => {
            let params = Object::read(message.content()).unwrap_or_default();
            Pending::Tools { first: params.get("cursor").is_none(), modern: modern(&message) }
        }
        "initialize" | "server/discover" => Pending::Hello,
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
        // It would be carried out, and nobody could be told why not.
        METHOD => {
            tracing::warn!("a `{METHOD}` without an id was dropped");
            Act::Drop
        }
        "notifications/cancelled" => Act::Cancel(message),
        _ if shared.servers.len() > 1 => several::told(shared, message, method),
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

async fn carry_out(shared: &Shared, act: Act) {
    match act {
        Act::Ask(server, message, pending) => ask(shared, server, message, pending).await,
        Act::Tell(server, message) => drop(shared.send(server, message).await),
        Act::TellAll(message) => {
            for server in 0..shared.servers.len() {
                shared.send(server, message.clone()).await;
            }
        }
        Act::Gather(gather, parts) => gather::ask(shared, gather, parts).await,
        Act::Answer(id, json) => shared.answer(&id, json).await,
        Act::Object(json) => {
            if let Some(message) = Message::made(json) {
                let related = message.id().cloned();
                shared.tell(message, related).await;
            }
        }
        Act::Cancel(message) => cancel(shared, message).await,
        Act::Drop => {}
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

/// Answers a request that the server will not answer any more.
pub(super) async fn gone(shared: &Shared, server: usize, id: &Id) {
    let Some(pending) = shared.table().pending.remove(&(server, id.clone())) else { return };
    match pending {
        Pending::Call(call) => ended(shared, call, Outcome::Unknown).await,
        Pending::Part(number) => return gather::part(shared, number, (server, None)).await,
        Pending::Plain | Pending::Tools { .. } | Pending::Hello | Pending::Task(_) => {}
    }
    // Whoever gave the request up, or has closed, waits for no answer.
    let given_up = shared.table().given_up.remove(id);
    let Some(server) = shared.servers.get(server).filter(|_| !given_up && !shared.closing()) else {
        shared.table().open.remove(id);
        return;
    };
    let why = server.trouble.as_deref().unwrap_or("its own output on standard error may say why");
    shared.fail(id, -32603, &format!("the server `{}` is gone: {why}", server.name), None).await;
}

/// Gives the guard the end of a call.
pub(super) async fn ended(shared: &Shared, call: OpenCall, outcome: Outcome) {
    if let Some(call) = call.guarded {
        // The call has run: an outcome that could not be recorded proves nothing.
        match shared.calls.ended(call, outcome).await {
            Ok(step) => shared.observe(Some(&step)),
            Err(problem) => warn_of(&problem),
        }
    }
}

async fn cancel(shared: &Shared, message: Message) {
    let id = Object::read(message.content()).ok().and_then(|params| Id::read(params.get("requestId")?.as_bytes()));
    let Some(id) = id else { return };
    if gather::cancelled(shared, &id, &message).await {
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
            Some(Pending::Call(call)) => Some(call.clone()),
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
