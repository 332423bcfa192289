//! Batches: lists of messages, which the protocol had in revision 2025-03-26 only.
//!
//! Each message of a list goes its own way, so each call is decided by itself. The answers leave as one list.

use std::sync::Mutex;

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::{Fault, Kind, Malformed, Message};
use crate::sync::lock;
use crate::wire::link::Arrived;

/// The revision that has lists.
pub(crate) const REVISION: &str = "2025-03-26";
/// The most messages of a list.
const MAX_MESSAGES: usize = 256;

/// The messages of a list. One that may not be part of it, or is none, stands as what is wrong with it.
///
/// # Errors
///
/// It is no list, holds nothing, or holds too much.
pub(crate) fn split(bytes: &[u8]) -> Result<Vec<Result<Message, Malformed>>, Malformed> {
    let wrong = |fault, text: String| Malformed { fault, id: None, text };
    let items: Vec<&RawValue> =
        serde_json::from_slice(bytes).map_err(|error| wrong(Fault::NoJson, error.to_string()))?;
    if items.is_empty() {
        return Err(wrong(Fault::NoMessage, "a list holds one message at least".into()));
    }
    if items.len() > MAX_MESSAGES {
        return Err(wrong(Fault::TooLarge, format!("a list holds {MAX_MESSAGES} messages at most")));
    }
    let mut ids: Vec<Id> = Vec::new();
    let mut part = |item: &RawValue| {
        let message = Message::read(Bytes::copy_from_slice(item.get().as_bytes()))?;
        if message.method() == Some("initialize") {
            let text = "`initialize` stands alone, in no list".to_owned();
            return Err(Malformed { id: message.id().cloned(), ..wrong(Fault::NoMessage, text) });
        }
        if let Some(id) = message.id().filter(|_| message.kind() == Kind::Request) {
            if ids.contains(id) {
                return Err(wrong(Fault::NoMessage, format!("the list has two requests with the id {id}")));
            }
            ids.push(id.clone());
        }
        Ok(message)
    };
    Ok(items.into_iter().map(&mut part).collect())
}

/// Answers as one list.
pub(crate) fn joined(answers: &[Bytes]) -> Vec<u8> {
    let mut list = b"[".to_vec();
    for (number, answer) in answers.iter().enumerate() {
        if number > 0 {
            list.push(b',');
        }
        list.extend_from_slice(answer);
    }
    list.push(b']');
    list
}

/// The lists of a client on a stream of lines, of which not everything is answered.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    state: Mutex<State>,
    cancelled: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The handshake that was not answered yet.
    greeting: Option<Id>,
    /// Whether client and server agreed on the revision that has lists.
    spoken: bool,
    open: Vec<Open>,
}

/// A list that is not answered yet, in its order.
#[derive(Debug)]
struct Open(Vec<Part>);

/// What is to be answered of a list.
#[derive(Debug)]
struct Part {
    /// The id of its answer; that of what could not be read may have none.
    id: Option<Id>,
    answer: Option<Bytes>,
    /// Whether nobody waits for the answer.
    cancelled: bool,
}

impl Open {
    fn is_whole(&self) -> bool {
        self.0.iter().all(|part| part.cancelled || part.answer.is_some())
    }

    /// The answers as one list; `None` if there are none.
    fn joined(&self) -> Option<Bytes> {
        let answers: Vec<Bytes> = self.0.iter().filter_map(|part| part.answer.clone()).collect();
        (!answers.is_empty()).then(|| joined(&answers).into())
    }
}

impl Batches {
    /// What arrived in a line: of a list each of its messages.
    pub(crate) fn arrived(&self, line: Bytes) -> Vec<Arrived> {
        match Message::read(line.clone()) {
            Ok(message) => {
                self.note(&message);
                vec![Ok(message.into())]
            }
            Err(malformed) if malformed.fault == Fault::Batch && lock(&self.state).spoken => match split(&line) {
                Ok(parts) => self.opened(parts),
                Err(malformed) => vec![Err(Box::new(malformed))],
            },
            Err(malformed) => vec![Err(Box::new(malformed))],
        }
    }

    fn opened(&self, parts: Vec<Result<Message, Malformed>>) -> Vec<Arrived> {
        let answered = parts.iter().filter_map(|part| match part {
            Ok(message) => (message.kind() == Kind::Request).then(|| message.id().cloned()),
            Err(malformed) => Some(malformed.id.clone()),
        });
        let open = Open(answered.map(|id| Part { id, answer: None, cancelled: false }).collect());
        if !open.0.is_empty() {
            lock(&self.state).open.push(open);
        }
        parts.iter().filter_map(|part| part.as_ref().ok()).for_each(|message| self.note(message));
        parts.into_iter().map(|part| part.map(Into::into).map_err(Box::new)).collect()
    }

    /// Notes a handshake, and what is no longer to be answered.
    fn note(&self, message: &Message) {
        match message.method() {
            Some("initialize") => lock(&self.state).greeting = message.id().cloned(),
            Some("notifications/cancelled") => {
                let params = Object::read(message.content()).unwrap_or_default();
                let id = params.get("requestId").and_then(|json| Id::read(json.as_bytes()));
                for part in lock(&self.state).open.iter_mut().flat_map(|open| &mut open.0) {
                    part.cancelled |= id.is_some() && part.id == id;
                }
                self.cancelled.notify_one();
            }
            _ => {}
        }
    }

    /// What is written of a message that leaves: itself, or nothing while the list that it belongs into is not whole.
    pub(crate) fn leaving(&self, message: &Message) -> Option<Bytes> {
        if !matches!(message.kind(), Kind::Result | Kind::Error) {
            return Some(message.bytes().clone());
        }
        let mut state = lock(&self.state);
        if state.greeting.is_some() && state.greeting.as_ref() == message.id() {
            state.greeting = None;
            let agreed = Object::read(message.content()).ok().and_then(|result| result.text("protocolVersion"));
            state.spoken = agreed.as_deref() == Some(REVISION);
        }
        let meant = |part: &Part| part.answer.is_none() && part.id.as_ref() == message.id();
        let found = state.open.iter().enumerate().find_map(|(list, open)| Some((list, open.0.iter().position(meant)?)));
        let Some((list, place)) = found else { return Some(message.bytes().clone()) };
        let open = state.open.get_mut(list)?;
        open.0.get_mut(place)?.answer = Some(message.bytes().clone());
        if open.is_whole() { state.open.remove(list).joined() } else { None }
    }

    /// A list that is whole because the rest of it was cancelled; it waits until there is one.
    pub(crate) async fn whole(&self) -> Bytes {
        loop {
            if let Some(list) = self.taken(Open::is_whole) {
                return list;
            }
            self.cancelled.notified().await;
        }
    }

    /// A list that is answered in part when everything ends.
    pub(crate) fn cut_off(&self) -> Option<Bytes> {
        self.taken(|_| true)
    }

    /// Takes out the first list of this kind that has answers; one of this kind without any is dropped.
    fn taken(&self, kind: impl Fn(&Open) -> bool) -> Option<Bytes> {
        let mut state = lock(&self.state);
        loop {
            let place = state.open.iter().position(&kind)?;
            if let Some(list) = state.open.remove(place).joined() {
                return Some(list);
            }
        }
    }
}
