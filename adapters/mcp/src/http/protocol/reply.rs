//! Answers: one JSON object, a stream of events, or nothing but a status.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::refusal::Refusal;
use crate::http::replay_buffer::{Next, Reader};
use crate::message::Message;
use crate::message::batches::joined;
use crate::message::id::Id;

/// An answer.
pub(in crate::http) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// How long a stream stays silent before a comment says that it lives.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a client that lost a stream waits before it comes back, in milliseconds.
const RETRY_MILLIS: u32 = 1000;
/// A message shorter than this is copied together with what is around it; a longer one is sent as it lies.
const MAX_COPIED_BYTES: usize = 4096;

/// Nothing but a status.
pub(in crate::http) fn status(status: StatusCode) -> Reply {
    body(status, None, Bytes::new())
}

/// One message.
pub(in crate::http) fn message(code: StatusCode, message: &Message) -> Reply {
    body(code, Some("application/json"), message.bytes().clone())
}

/// The answers to a list of messages.
pub(in crate::http) fn list(answers: &[Bytes]) -> Reply {
    body(StatusCode::OK, Some("application/json"), joined(answers).into())
}

/// A refusal, as an error for the request with this id.
pub(in crate::http) fn refused(refusal: &Refusal, id: Option<&Id>) -> Reply {
    let mut reply = body(refusal.status, Some("application/json"), refusal.body(id).into());
    match refusal.status {
        StatusCode::UNAUTHORIZED => {
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
        }
        _ => {}
    }
    reply
}

/// A stream of events.
pub(in crate::http) struct Events {
    /// Where they come from.
    pub(in crate::http) reader: Reader,
    /// With a name, each event has an id by which the stream can be resumed after it.
    pub(in crate::http) name: Option<String>,
    /// Whether the stream begins with an event that says nothing but its id, and when to come back for the rest.
    pub(in crate::http) primes: bool,
    /// A message that was read already.
    pub(in crate::http) first: Option<(u64, Message)>,
}

/// Answers with a stream. What is `held` goes when the stream has ended, or the client is gone.
pub(in crate::http) fn events(events: Events, held: impl Send + 'static) -> Reply {
    let Events { reader, name, primes, first } = events;
    let mut ready = VecDeque::new();
    if let Some(name) = name.as_ref().filter(|_| primes) {
        let before = first.as_ref().map_or(0, |(number, _)| number.saturating_sub(1));
        ready.push_back(Bytes::from(format!("id: {name}-{before}\nretry: {RETRY_MILLIS}\ndata: \n\n")));
    }
    if let Some((number, message)) = first {
        ready.extend(event(name.as_deref(), number, message.bytes()));
    }
    let state = (reader, name, ready, held);
    let frames = stream::unfold(state, |(reader, name, mut ready, held)| async move {
        if ready.is_empty() {
            match reader.next(KEEP_ALIVE_INTERVAL).await {
                Next::Message(number, message) => ready = event(name.as_deref(), number, message.bytes()),
                Next::Silence => ready.push_back(Bytes::from_static(b":\n\n")),
                Next::End => return None,
            }
        }
        let piece: Bytes = ready.pop_front()?;
        Some((Ok(Frame::data(piece)), (reader, name, ready, held)))
    });
    let mut reply = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    reply
}

fn body(status: StatusCode, kind: Option<&'static str>, bytes: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(bytes).boxed_unsync());
    *reply.status_mut() = status;
    if let Some(kind) = kind {
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// An event in pieces. A message has no line break in it, so its text is one line of data.
fn event(name: Option<&str>, number: u64, message: &Bytes) -> VecDeque<Bytes> {
    let head = name.map_or_else(|| "data: ".to_owned(), |name| format!("id: {name}-{number}\ndata: "));
    let head = Bytes::from(head);
    let tail = Bytes::from_static(b"\n\n");
    if message.len() < MAX_COPIED_BYTES {
        return VecDeque::from([[head, message.clone(), tail].concat().into()]);
    }
    VecDeque::from([head, message.clone(), tail])
}
