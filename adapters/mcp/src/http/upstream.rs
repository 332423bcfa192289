//! A link to a server that is reached by an address.

mod response;
mod driver;
mod received;
mod renewal;
mod learning;
mod exchange;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinSet};

use super::remote::Remote;
use crate::http::protocol::revision;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::{Kind, Message};
use crate::wire::link::{Link, Wire, link};
use driver::{Driver, NOTIFY_TIMEOUT};

/// A link to the server. It tries nothing before the first message, and ends with the link: requests are broken off,
/// the session is ended at the server.
pub fn connect(remote: Remote) -> Link {
    let (link, wire) = link();
    tokio::spawn(driven(remote, wire));
    link
}

async fn driven(remote: Remote, wire: Wire) {
    let Wire { to, mut from } = wire;
    let driver = Arc::new(Driver {
        remote,
        to_link: to,
        session: Mutex::default(),
        parameters: Mutex::default(),
        renewing: tokio::sync::Mutex::default(),
        renewals: Notify::new(),
    });
    let mut tasks = JoinSet::new();
    let mut open: HashMap<Id, AbortHandle> = HashMap::new();
    loop {
        tokio::select! {
            sent = from.recv() => match sent {
                Some(routed) => driver.sent(routed.message, &mut tasks, &mut open).await,
                None => break,
            },
            Some(_) = tasks.join_next() => open.retain(|_, task| !task.is_finished()),
        }
    }
    tasks.shutdown().await;
    driver.ended().await;
}

impl Driver {
    /// Takes on one message of the relay.
    async fn sent(self: &Arc<Self>, message: Message, tasks: &mut JoinSet<()>, open: &mut HashMap<Id, AbortHandle>) {
        let driver = Arc::clone(self);
        match (message.kind(), message.method()) {
            (Kind::Request, _) => {
                let Some(id) = message.id().cloned() else { return };
                let stateless = revision::is_stateless(&message);
                let task = tasks.spawn(async move { driver.asked(message, stateless).await });
                if stateless {
                    open.insert(id, task);
                }
            }
            (Kind::Notification, Some("notifications/cancelled")) => {
                // Without a session, a request is given up by closing its answer.
                let params = Object::read(message.content()).unwrap_or_default();
                let id = params.get("requestId").and_then(|json| Id::read(json.as_bytes()));
                match id.and_then(|id| open.remove(&id)) {
                    Some(task) => task.abort(),
                    None => drop(tasks.spawn(async move { driver.told(message).await })),
                }
            }
            (Kind::Notification, Some("notifications/initialized")) => {
                // What follows must not overtake it.
                let _ = tokio::time::timeout(NOTIFY_TIMEOUT, self.told(message)).await;
                tasks.spawn(async move { driver.listening().await });
            }
            _ => drop(tasks.spawn(async move { driver.told(message).await })),
        }
    }
}
