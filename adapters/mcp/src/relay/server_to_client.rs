//! From a server to the client.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use phasegate_core::events::event::Outcome;
use tokio::sync::mpsc::Receiver;

use super::ending::{ended, gone};
use super::pending::{OpenCall, Pending};
use super::shared::Shared;
use super::{fan_out, initialize, multiplexed, tool_list};
use crate::denial;
use crate::message::id::Id;
use crate::message::object::{Object, replaced};
use crate::message::{Fault, Kind, Malformed, Message};
use crate::outcome;
use crate::wire::link::{Arrived, Routed};

/// How many answers are recorded at once.
const MAX_RECORDED_AT_ONCE: usize = 256;

/// Takes what the server sends until it is gone.
pub(super) async fn run(shared: &Shared, server: usize, mut from: Receiver<Arrived>) {
    // Boxed: the queue keeps room for a future of its own, also while it is empty, and so does this one for what it calls.
    let mut recording = FuturesOrdered::new();
    loop {
        tokio::select! {
            biased;
            Some(message) = recording.next(), if !recording.is_empty() => pass(shared, message).await,
            arrived = from.recv(), if recording.len() < MAX_RECORDED_AT_ONCE => match arrived {
                Some(Ok(routed)) => recording.push_back(Box::pin(take(shared, server, routed))),
                Some(Err(malformed)) => Box::pin(garbage(shared, server, &malformed)).await,
                None => break,
            },
        }
    }
    while let Some(message) = recording.next().await {
        pass(shared, message).await;
    }
    shared.close_server(server);
    Box::pin(fail_all(shared, server)).await;
    if shared.servers.len() > 1 && !shared.closing() {
        Box::pin(shared.tell_list_changed()).await;
    }
}

/// What the client gets of a message; `None`: nothing.
async fn take(shared: &Shared, server: usize, routed: Routed) -> Option<Routed> {
    let Routed { message, related } = routed;
    if !matches!(message.kind(), Kind::Result | Kind::Error) {
        let message =
            if shared.servers.len() > 1 { multiplexed::from_server(shared, server, message) } else { message };
        let message = acknowledged(shared, message);
        return Some(Routed { message, related });
    }
    let id = message.id().cloned();
    if id.is_none() {
        // An error that belongs to no request: the server could not read one.
        return Some(Routed { message, related });
    }
    let pending = id.as_ref().and_then(|id| shared.table().pending.remove(&(server, id.clone())));
    let Some((id, pending)) = id.zip(pending) else {
        tracing::warn!("an answer of the server `{}` to nothing that was asked was dropped", shared.name(server));
        return None;
    };
    shared.has_spoken();
    if let Pending::Part(number) = pending {
        fan_out::part(shared, number, server, Some(message)).await;
        return None;
    }
    let message = answer(shared, server, message, pending).await;
    {
        let mut table = shared.table();
        table.open.remove(&id);
        table.given_up.remove(&id);
        table.listening.retain(|listening| *listening != id);
    }
    Some(Routed { message, related: Some(Box::new(id)) })
}

/// What the client is promised of a subscription: changed lists of tools too, where we change them.
fn acknowledged(shared: &Shared, message: Message) -> Message {
    if message.method() != Some("notifications/subscriptions/acknowledged") || !shared.options.hide_forbidden {
        return message;
    }
    let promised = || {
        let params = Object::read(message.content()).ok()?;
        let meta = Object::read(params.get("_meta")?.as_bytes()).ok()?;
        let id = Id::read(meta.get("io.modelcontextprotocol/subscriptionId")?.as_bytes())?;
        if !shared.table().listening.contains(&id) {
            return None;
        }
        let honoured = replaced(params.get("notifications")?.as_bytes(), "toolsListChanged", "true")?;
        replaced(message.content(), "notifications", std::str::from_utf8(&honoured).ok()?)
    };
    match promised() {
        Some(content) => message.with_content(&content),
        None => message,
    }
}

async fn answer(shared: &Shared, server: usize, message: Message, pending: Pending) -> Message {
    match pending {
        Pending::Plain | Pending::Part(_) => message,
        Pending::Initialize => initialize::extended(shared, message),
        Pending::Tools(page) => tool_list::edited(shared, server, message, page).await,
        Pending::Call(call) => {
            let ending = outcome::of_answer(&message);
            if let Some(task) = &ending.task {
                shared.table().tasks.insert((server, task.clone()), OpenCall::clone(&call));
            }
            let warning = call.warning.clone();
            ended(shared, *call, ending).await;
            let warned = warning.filter(|_| message.kind() == Kind::Result);
            let content = warned.and_then(|warning| denial::warned(message.content(), &warning));
            content.map_or_else(|| message.clone(), |content| message.with_content(&content))
        }
        Pending::Task(task) => {
            if let Some(ending) = outcome::of_task_answer(&message) {
                let call = shared.table().tasks.remove(&(server, task));
                if let Some(call) = call {
                    ended(shared, call, ending).await;
                }
            }
            message
        }
    }
}

async fn pass(shared: &Shared, message: Option<Routed>) {
    if let Some(routed) = message {
        shared.tell_routed(routed).await;
    }
    shared.tell_changes().await;
}

/// Bytes that are no message. Where they tell whose answer they should have been, that request gets an error; so do all of
/// the server's, where they are too many to look.
async fn garbage(shared: &Shared, server: usize, malformed: &Malformed) {
    tracing::warn!("the server `{}` sent what is no message: {}", shared.name(server), malformed.text);
    if malformed.fault == Fault::TooLarge {
        fail_all_with(shared, server, &malformed.text).await;
    } else if let Some(id) = &malformed.id {
        fail_with(shared, server, id, &malformed.text).await;
    }
}

async fn fail_with(shared: &Shared, server: usize, id: &Id, text: &str) {
    let Some(pending) = shared.table().pending.remove(&(server, id.clone())) else { return };
    match pending {
        Pending::Call(call) => ended(shared, *call, Outcome::Unknown).await,
        Pending::Part(number) => return fan_out::part(shared, number, server, None).await,
        Pending::Plain | Pending::Tools(_) | Pending::Initialize | Pending::Task(_) => {}
    }
    shared.fail(id, -32603, &format!("the server's answer cannot be read: {text}"), None).await;
}

fn open(shared: &Shared, server: usize) -> Vec<Id> {
    let mut ids: Vec<Id> =
        shared.table().pending.keys().filter(|(at, _)| *at == server).map(|(_, id)| id.clone()).collect();
    ids.sort_unstable();
    ids
}

async fn fail_all_with(shared: &Shared, server: usize, text: &str) {
    for id in open(shared, server) {
        fail_with(shared, server, &id, text).await;
    }
}

async fn fail_all(shared: &Shared, server: usize) {
    for id in open(shared, server) {
        gone(shared, server, &id).await;
    }
}
