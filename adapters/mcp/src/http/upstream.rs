//! A link to a server that is reached by an address.

mod exchange;
mod parameters;
mod received;
mod renewal;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinSet};

use super::remote::Remote;
use super::revision;
use crate::id::Id;
use crate::link::{Arrived, Link, Routed, Wire, link};
use crate::message::{Kind, Message};
use crate::object::Object;
use parameters::Parameters;

/// How long the server may take to be told that the handshake is over, and that a session ends.
const TOLD: Duration = Duration::from_secs(10);

/// One session with one server.
struct Driver {
    remote: Remote,
    to_link: Sender<Arrived>,
    session: Mutex<Handshake>,
    parameters: Mutex<Parameters>,
    /// Held while a session that the server has forgotten is begun anew.
    renewing: tokio::sync::Mutex<()>,
    /// Told when that was done.
    renewals: Notify,
}

/// What a handshake agreed on.
#[derive(Clone, Debug, Default)]
struct Handshake {
    /// The id that the server gave the session.
    id: Option<String>,
    /// The revision that the server chose.
    version: Option<String>,
    /// How it was begun.
    opened: Option<Message>,
    /// How many times it was begun.
    times: u64,
}

/// A link to the server. It tries nothing before the first message, and ends with the link: requests are broken off,
/// the session is ended at the server.
#[must_use]
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
                let _ = tokio::time::timeout(TOLD, self.told(message)).await;
                tasks.spawn(async move { driver.listening().await });
            }
            _ => drop(tasks.spawn(async move { driver.told(message).await })),
        }
    }

    /// Sends a message that asks for no answer.
    async fn told(&self, message: Message) {
        match self.post(&message, false).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => tracing::warn!(status = %response.status(), "the server took a message badly"),
            Err(error) => tracing::warn!(error = %exchange::cause(&error), "a message could not be sent to the server"),
        }
    }

    /// Ends the session at the server.
    async fn ended(&self) {
        if self.handshake().id.is_none() {
            return;
        }
        let request = self.request(Method::DELETE, None);
        if tokio::time::timeout(TOLD, request.send()).await.is_err() {
            tracing::debug!("the server did not end the session in time");
        }
    }

    /// Hands a message to the relay, as one that belongs to a request.
    async fn arrived(&self, message: Message, related: Option<&Id>) {
        // The relay that is gone wants nothing any more.
        let _ = self.to_link.send(Ok(Routed { message, related: related.cloned() })).await;
    }

    /// Answers a request in the server's place.
    async fn failed(&self, id: &Id, text: &str) {
        let error = json!({"code": -32603, "message": text});
        let text = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        if let Ok(message) = Message::read(text) {
            self.arrived(message, Some(id)).await;
        }
    }

    fn handshake(&self) -> Handshake {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Handshake> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parameters(&self) -> MutexGuard<'_, Parameters> {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
