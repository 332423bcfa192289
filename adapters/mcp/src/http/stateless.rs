//! Clients whose protocol has no session: every request says for itself what it is, and which session it belongs to by a
//! handle. Without one it belongs to its principal's own.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::HeaderMap;
use serde_json::Value;

use super::client::Client;
use super::endpoint::{self, Asked, Endpoint};
use super::handle::{self, Taken};
use super::principal::Principal;
use super::replay_buffer::Next;
use super::settings::Server;
use crate::http::protocol::refusal::Refusal;
use crate::http::protocol::reply::{self, Events, Reply};
use crate::message::{Kind, Message};

/// How long an answer may be waited for before a stream is begun instead.
const STREAM_AFTER: Duration = Duration::from_secs(15);

/// A message.
pub(super) async fn posted(
    server: &Arc<Server>,
    client: &Client,
    headers: &HeaderMap,
    message: Message,
) -> Result<Reply, Refusal> {
    let Taken { message, handle, tool } =
        if server.settings.handles { handle::take(message)? } else { Taken { message, handle: None, tool: None } };
    if message.kind() == Kind::Request && message.method() == Some("initialize") {
        return Err(Refusal::new(StatusCode::NOT_FOUND, -32601, "this revision of the protocol has no handshake"));
    }
    if message.kind() != Kind::Request {
        // Requests are given up by closing their stream; with ids alone, one client could give up another's.
        if message.method() != Some("notifications/cancelled") {
            server.sessions.stateless(client, handle.as_deref()).await?.tell(message).await?;
        }
        return Ok(reply::status(StatusCode::ACCEPTED));
    }
    let begins = server.settings.handles && handle.is_none() && tool.as_deref() == Some(handle::ACTIVATE);
    if begins {
        return activated(server, &client.principal, message).await;
    }
    let endpoint = server.sessions.stateless(client, handle.as_deref()).await?;
    endpoint.compare(headers, &message)?;
    let discovers = message.method() == Some("server/discover");
    let open = Open { asked: endpoint.ask(message).await?, endpoint };
    Ok(answered(open, discovers).await)
}

/// A skill that is activated without a handle begins a session of its own, whose handle is answered.
async fn activated(server: &Arc<Server>, principal: &Principal, message: Message) -> Result<Reply, Refusal> {
    let (handle, endpoint) = server.sessions.begin_handle(principal).await?;
    let open = Open { asked: endpoint.ask(message).await?, endpoint };
    let answer = open.asked.answer().await.ok_or_else(endpoint::gone)?;
    if let Some(with_handle) = handle::add(&answer, &handle) {
        return Ok(reply::message(StatusCode::OK, &with_handle));
    }
    server.sessions.finish_handle(principal, &handle).await;
    Ok(reply::message(status(&answer, false), &answer))
}

/// An open request. If it is dropped before its answer, its client is gone, and the request is cancelled.
struct Open {
    asked: Asked,
    endpoint: Arc<Endpoint>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.endpoint.cancel(&self.asked.id);
    }
}

/// One object where the answer comes first and soon, else a stream.
async fn answered(open: Open, discovers: bool) -> Reply {
    let reader = open.asked.buffer.read(None);
    let first = match reader.next(STREAM_AFTER).await {
        Next::Message(_, message) if matches!(message.kind(), Kind::Result | Kind::Error) => {
            return reply::message(status(&message, discovers), &message);
        }
        Next::Message(number, message) => Some((number, message)),
        Next::Silence | Next::End => None,
    };
    reply::events(Events { reader, name: None, primes: false, first }, open)
}

/// The status that goes with an answer.
fn status(message: &Message, discovers: bool) -> StatusCode {
    if message.kind() != Kind::Error {
        return StatusCode::OK;
    }
    let error: Value = serde_json::from_slice(message.content()).unwrap_or_default();
    match error.get("code").and_then(Value::as_i64) {
        Some(-32022..=-32020) => StatusCode::BAD_REQUEST,
        // Every server of this revision answers it: one that does not is older, and the client tries a handshake next.
        _ if discovers => StatusCode::BAD_REQUEST,
        Some(-32601) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
