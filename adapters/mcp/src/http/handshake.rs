//! Clients whose protocol begins with a handshake: POST for messages, GET for what the server sends by itself and to
//! resume a stream, DELETE to end the session.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::endpoint::{Asked, Endpoint};
use super::principal::Principal;
use super::replay_buffer::{Next, Reader};
use super::settings::Server;
use crate::http::protocol::accept::accepts;
use crate::http::protocol::refusal::Refusal;
use crate::http::protocol::reply::{self, Events, Reply};
use crate::http::protocol::revision;
use crate::http::protocol::versions::{SESSION, STATELESS, SUPPORTED, UNSAID};
use crate::message::{Kind, Message};

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// How long an answer may be waited for before a stream is begun instead.
const STREAM_AFTER: Duration = Duration::from_secs(15);

/// A message.
pub(super) async fn posted(
    server: &Arc<Server>,
    principal: &Principal,
    headers: &HeaderMap,
    message: Message,
) -> Result<Reply, Refusal> {
    if message.method() == Some("initialize") && message.kind() == Kind::Request {
        if headers.contains_key(SESSION) {
            let text = "the session has begun; `initialize` without `Mcp-Session-Id` begins another";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, -32600, text));
        }
        return begun(server, principal, message).await;
    }
    let endpoint = session(server, principal, headers).await?;
    if message.kind() == Kind::Request {
        // A call may take long, so its stream begins at once: a client that loses it can take it up again.
        let long = message.method() == Some("tools/call");
        let asked = endpoint.ask(message).await?;
        return Ok(if long {
            streamed(&endpoint, &asked, asked.buffer.read(None), None)
        } else {
            answered(&endpoint, &asked).await.1
        });
    }
    endpoint.tell(message).await?;
    Ok(reply::status(StatusCode::ACCEPTED))
}

/// What the server sends by itself, or a stream from where it broke off.
pub(super) async fn listened(
    server: &Arc<Server>,
    principal: &Principal,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    if revision::version_header(headers)? == Some(STATELESS) {
        let text = "this revision of the protocol has no such stream; POST `subscriptions/listen`";
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, -32600, text));
    }
    if !accepts(headers, "text/event-stream") {
        let text = "the client must accept `text/event-stream`";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, -32600, text));
    }
    let endpoint = session(server, principal, headers).await?;
    let (stream, after) = match headers.get(LAST_EVENT).map(HeaderValue::to_str) {
        None => (0, None),
        Some(value) => {
            let place = value.ok().and_then(|value| value.split_once('-'));
            let place = place.and_then(|(stream, number)| Some((stream.parse().ok()?, Some(number.parse().ok()?))));
            place.ok_or_else(unknown_event)?
        }
    };
    let buffer = endpoint.stream(stream).ok_or_else(unknown_event)?;
    let events = Events { reader: buffer.read(after), name: Some(stream.to_string()), primes: false, first: None };
    Ok(reply::events(events, ()))
}

/// The end of a session.
pub(super) async fn deleted(
    server: &Arc<Server>,
    principal: &Principal,
    headers: &HeaderMap,
) -> Result<Reply, Refusal> {
    if revision::version_header(headers)? == Some(STATELESS) {
        let text = "this revision of the protocol has no sessions to end";
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, -32600, text));
    }
    server.sessions.finish(session_id(headers)?, principal).await?;
    Ok(reply::status(StatusCode::NO_CONTENT))
}

async fn begun(server: &Arc<Server>, principal: &Principal, message: Message) -> Result<Reply, Refusal> {
    let (id, endpoint) = server.sessions.prepare(principal, &message)?;
    let ending = Ending { server: server.as_ref(), id: Some(id) };
    let asked = endpoint.ask(message).await?;
    let (first, mut reply) = answered(&endpoint, &asked).await;
    // A handshake that failed began nothing.
    if first.is_none_or(|first| first.kind() != Kind::Error)
        && let Some(id) = ending.keep()
        && let Ok(value) = HeaderValue::from_str(&id)
    {
        server.sessions.begin(&id).await;
        reply.headers_mut().insert(SESSION, value);
    }
    Ok(reply)
}

/// Ends a session whose client never got its id.
struct Ending<'a> {
    server: &'a Server,
    id: Option<String>,
}

impl Ending<'_> {
    fn keep(mut self) -> Option<String> {
        self.id.take()
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.server.sessions.discard(id);
        }
    }
}

/// One object where the answer comes first and soon, else a stream. With it the answer, where it is that one object.
async fn answered(endpoint: &Arc<Endpoint>, asked: &Asked) -> (Option<Message>, Reply) {
    let reader = asked.buffer.read(None);
    let first = match reader.next(STREAM_AFTER).await {
        Next::Message(_, message) if matches!(message.kind(), Kind::Result | Kind::Error) => {
            let reply = reply::message(StatusCode::OK, &message);
            return (Some(message), reply);
        }
        Next::Message(number, message) => Some((number, message)),
        Next::Silence | Next::End => None,
    };
    (None, streamed(endpoint, asked, reader, first))
}

/// A stream that can be resumed.
fn streamed(endpoint: &Arc<Endpoint>, asked: &Asked, reader: Reader, first: Option<(u64, Message)>) -> Reply {
    endpoint.begun(asked);
    reply::events(Events { reader, name: Some(asked.stream.to_string()), primes: true, first }, ())
}

/// The session that a request names, if it is this principal's.
pub(super) async fn session(
    server: &Arc<Server>,
    principal: &Principal,
    headers: &HeaderMap,
) -> Result<Arc<Endpoint>, Refusal> {
    let version = revision::version_header(headers)?.unwrap_or(UNSAID);
    server.sessions.find(session_id(headers)?, principal, version).await
}

/// The id of the session that a request names.
fn session_id(headers: &HeaderMap) -> Result<&str, Refusal> {
    if let Some(version) = revision::version_header(headers)?.filter(|version| !SUPPORTED.contains(version)) {
        return Err(Refusal::unsupported_version(version, &SUPPORTED));
    }
    let mut values = headers.get_all(SESSION).iter();
    let id = values.next().and_then(|value| value.to_str().ok()).filter(|_| values.next().is_none());
    id.ok_or_else(|| {
        let text = "the request must name its session in `Mcp-Session-Id`; `initialize` begins one";
        Refusal::new(StatusCode::BAD_REQUEST, -32600, text)
    })
}

fn unknown_event() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, -32600, "nothing is kept that came after this event")
}
