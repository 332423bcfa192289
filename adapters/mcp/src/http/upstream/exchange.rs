//! One request and its answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode};

use super::Driver;
use super::received::{Ended, Place};
use crate::http::revision::{self, METHOD, NAME, SESSION, VERSION};
use crate::id::Id;
use crate::message::{Kind, Message};
use crate::object::Object;

/// The size of an answer that is copied, in bytes: as much as is read at once.
const SMALL: usize = 16 << 10;
/// The largest message that is taken from a server, in bytes.
pub(super) const LARGEST: usize = 256 << 20;
/// How many times a stream that broke off is taken up again.
const ATTEMPTS: u32 = 5;

impl Driver {
    /// Sends a request and hands on what comes of it. Whatever happens, the request is answered.
    pub(super) async fn asked(self: Arc<Self>, message: Message, stateless: bool) {
        let Some(id) = message.id().cloned() else { return };
        if let Err(text) = self.exchanged(&message, &id, stateless).await {
            self.failed(&id, &text).await;
        }
    }

    async fn exchanged(&self, message: &Message, id: &Id, stateless: bool) -> Result<(), String> {
        let begun = self.handshake().times;
        let mut response = self.posted(message, stateless).await?;
        let forgotten = response.status() == StatusCode::NOT_FOUND && !stateless && self.handshake().id.is_some();
        if forgotten && message.method() != Some("initialize") {
            self.renew(begun).await?;
            response = self.posted(message, stateless).await?;
        }
        if message.method() == Some("initialize") {
            self.opened(message, &response);
        }
        match kind(&response).as_deref() {
            Some("text/event-stream") if response.status().is_success() => {
                self.streamed(response, message, id, stateless).await
            }
            Some("application/json") => {
                let status = response.status();
                let answer = whole(response).await?;
                let answer = self.fitting(answer, id, status)?;
                if stateless && answer.kind() == Kind::Error && self.learnt(message, &answer).await {
                    return self.again(message, id).await;
                }
                self.answered(message, answer, id).await;
                Ok(())
            }
            _ => Err(unfit(&response)),
        }
    }

    /// A call once more, now that it is known which arguments headers repeat.
    async fn again(&self, message: &Message, id: &Id) -> Result<(), String> {
        let response = self.posted(message, true).await?;
        match kind(&response).as_deref() {
            Some("text/event-stream") if response.status().is_success() => {
                self.streamed(response, message, id, true).await
            }
            Some("application/json") => {
                let status = response.status();
                let answer = self.fitting(whole(response).await?, id, status)?;
                self.answered(message, answer, id).await;
                Ok(())
            }
            _ => Err(unfit(&response)),
        }
    }

    async fn streamed(&self, response: Response, message: &Message, id: &Id, stateless: bool) -> Result<(), String> {
        let mut place = Place::default();
        let mut response = response;
        let mut attempts = 0;
        loop {
            match self.received(response, Some((message, id)), &mut place).await {
                Ended::Answered => return Ok(()),
                Ended::Garbage(text) => return Err(text),
                Ended::Broken if stateless || place.last.is_none() || attempts >= ATTEMPTS => {
                    return Err("the server's answer broke off; whether it did what was asked is not known".into());
                }
                Ended::Broken => {}
            }
            loop {
                attempts = attempts.saturating_add(1);
                tokio::time::sleep(place.wait(attempts)).await;
                let resumed = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
                let resumed = resumed.header("last-event-id", place.last.clone().unwrap_or_default()).send().await;
                match resumed {
                    Ok(again)
                        if again.status().is_success() && kind(&again).as_deref() == Some("text/event-stream") =>
                    {
                        response = again;
                        break;
                    }
                    Err(_) if attempts < ATTEMPTS => {}
                    _ => return Err("the server's answer broke off, and the server does not take it up again".into()),
                }
            }
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
            return request.header(VERSION, revision::STATELESS);
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

    /// Notes how a session was begun.
    fn opened(&self, message: &Message, response: &Response) {
        let id = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(ToOwned::to_owned);
        let mut handshake = self.lock();
        handshake.id = id;
        handshake.opened = Some(message.clone());
        handshake.times = handshake.times.saturating_add(1);
    }

    /// An answer that is one object, if it is the answer to this request.
    fn fitting(&self, body: Bytes, id: &Id, status: StatusCode) -> Result<Message, String> {
        let answer = Message::read(body).map_err(|malformed| {
            format!("the server answered (HTTP {}) what is no message: {}", status.as_u16(), malformed.text)
        })?;
        match (answer.kind(), answer.id()) {
            (Kind::Result | Kind::Error, Some(answered)) if answered == id => Ok(answer),
            // A server that did not come to read the id sends its error without one.
            (Kind::Error, None) => Ok(answered_as(&answer, id)),
            _ => Err("the server answered another request than it was asked".into()),
        }
    }
}

/// The error under this id.
fn answered_as(error: &Message, id: &Id) -> Message {
    let content = String::from_utf8_lossy(error.content());
    let text = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{content}}}"#, id.json());
    Message::read(text).unwrap_or_else(|_| error.clone())
}

/// Reads an answer that is one object.
async fn whole(mut response: Response) -> Result<Bytes, String> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    let too_large = || format!("the server's answer is larger than {LARGEST} bytes");
    if announced > LARGEST {
        return Err(too_large());
    }
    let broken = |error: reqwest::Error| format!("the server's answer broke off: {}", cause(&error));
    let Some(first) = response.chunk().await.map_err(broken)? else { return Ok(Bytes::new()) };
    if first.len() == announced {
        // A small answer that is kept would keep all of the buffer that it was read into.
        return Ok(if announced < SMALL { Bytes::copy_from_slice(&first) } else { first });
    }
    let mut bytes = BytesMut::with_capacity(announced.min(16 << 20).max(first.len()));
    bytes.extend_from_slice(&first);
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if bytes.len().saturating_add(chunk.len()) > LARGEST {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// What an answer is, without its parameters, in lower case.
pub(super) fn kind(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next()?.trim().to_ascii_lowercase())
}

fn unfit(response: &Response) -> String {
    let status = response.status();
    let code = status.as_u16();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            format!("the server lets nobody in without other credentials (HTTP {code}); `--header` sends them")
        }
        _ if status.is_redirection() => {
            format!("the server sends on to another address (HTTP {code}), which is not followed; give that address")
        }
        _ if status.is_success() => {
            let kind = kind(response).unwrap_or_else(|| "nothing".into());
            format!("the server answered `{kind}`, neither JSON nor a stream of events (HTTP {code})")
        }
        _ => format!("the server answered HTTP {code} and no message"),
    }
}

/// The innermost cause of an error: the outer ones repeat the address.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// How long a stream that has no answer to give stays away before it is asked for again.
pub(super) const AWAY: Duration = Duration::from_secs(1);
