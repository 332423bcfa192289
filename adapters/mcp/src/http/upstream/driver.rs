//! One session with one server.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

use super::response::cause;
use crate::http::protocol::parameters::Parameters;
use crate::http::protocol::revision;
use crate::http::protocol::versions::{METHOD, NAME, SESSION, STATELESS, VERSION};
use crate::http::remote::Remote;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::{Kind, Message};
use crate::sync::lock;
use crate::wire::link::{Arrived, Routed};

/// How long the server may take to accept the end of the handshake, or the end of a session.
pub(super) const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// One session with one server.
pub(super) struct Driver {
    pub(super) remote: Remote,
    pub(super) to_link: Sender<Arrived>,
    pub(super) session: Mutex<Handshake>,
    pub(super) parameters: Mutex<Parameters>,
    /// Held while a session that the server has forgotten is begun anew.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// Told when that was done.
    pub(super) renewals: Notify,
}

/// What a handshake agreed on.
#[derive(Clone, Debug, Default)]
pub(super) struct Handshake {
    /// The id that the server gave the session.
    pub(super) id: Option<String>,
    /// The revision that the server chose.
    pub(super) version: Option<String>,
    /// How it was begun.
    pub(super) opened: Option<Message>,
    /// How many times it was begun.
    pub(super) times: u64,
}

impl Driver {
    /// Sends a message that asks for no answer.
    pub(super) async fn told(&self, message: Message) {
        match self.post(&message, false).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => tracing::warn!(status = %response.status(), "the server took a message badly"),
            Err(error) => tracing::warn!(error = %cause(&error), "a message could not be sent to the server"),
        }
    }

    /// Ends the session at the server.
    pub(super) async fn ended(&self) {
        if self.handshake().id.is_none() {
            return;
        }
        let request = self.request(Method::DELETE, None);
        if tokio::time::timeout(NOTIFY_TIMEOUT, request.send()).await.is_err() {
            tracing::debug!("the server did not end the session in time");
        }
    }

    /// Hands on the answer to a request.
    pub(super) async fn answered(&self, asked: &Message, answer: Message, id: &Id) {
        if asked.method() == Some("initialize") && answer.kind() == Kind::Result {
            let result = Object::read(answer.content()).unwrap_or_default();
            self.lock().version = result.text("protocolVersion");
        }
        if asked.method() == Some("tools/list") && answer.kind() == Kind::Result {
            self.parameters().learn(answer.content());
        }
        self.arrived(answer, Some(id)).await;
    }

    pub(super) async fn posted(&self, message: &Message, stateless: bool) -> Result<Response, String> {
        self.post(message, stateless).await.map_err(|error| format!("the server cannot be reached: {}", cause(&error)))
    }

    pub(super) async fn post(&self, message: &Message, stateless: bool) -> reqwest::Result<Response> {
        let version = stateless.then_some(message);
        let mut request = self.request(Method::POST, version);
        request =
            request.header(ACCEPT, "application/json, text/event-stream").header(CONTENT_TYPE, "application/json");
        if stateless {
            let (method, name) = revision::routing(message);
            if let Some(method) = method {
                request = request.header(METHOD, method);
            }
            if let Some(name) = name {
                request = request.header(NAME, revision::encoded(&name));
            }
            for (header, value) in self.parameters().of(message) {
                request = request.header(header, revision::encoded(&value));
            }
        }
        request.body(message.bytes().clone()).send().await
    }

    /// A request to the server with all headers that every one has. Without a session, `stateless` says for itself.
    pub(super) fn request(&self, method: Method, stateless: Option<&Message>) -> RequestBuilder {
        let remote = &self.remote;
        let mut request = remote.client.request(method, remote.url.clone()).headers(remote.headers.clone());
        if stateless.is_some() {
            return request.header(VERSION, STATELESS);
        }
        let handshake = self.handshake();
        if let Some(id) = handshake.id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            request = request.header(SESSION, id);
        }
        match handshake.version.and_then(|version| HeaderValue::from_str(&version).ok()) {
            Some(version) => request.header(VERSION, version),
            None => request,
        }
    }

    /// Hands a message to the relay, as one that belongs to a request.
    pub(super) async fn arrived(&self, message: Message, related: Option<&Id>) {
        // The relay that is gone wants nothing any more.
        let _ = self.to_link.send(Ok(Routed { message, related: related.cloned().map(Box::new) })).await;
    }

    /// Answers a request in the server's place.
    pub(super) async fn failed(&self, id: &Id, text: &str) {
        let error = json!({"code": -32603, "message": text});
        let text = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        if let Ok(message) = Message::read(text) {
            self.arrived(message, Some(id)).await;
        }
    }

    pub(super) fn handshake(&self) -> Handshake {
        self.lock().clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Handshake> {
        lock(&self.session)
    }

    pub(super) fn parameters(&self) -> MutexGuard<'_, Parameters> {
        lock(&self.parameters)
    }
}
