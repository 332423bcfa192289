//! A frame: one message with where it was seen, as an object of one line.
//!
//! `{"session": "1", "server": "lsp", "from": "client", "message": {...}}`; the message is kept as it was sent. In place
//! of a message, `"closed": true` says that the client is gone.

use phasegate_adapter::{Frame, Message as Opened, Problem};
use phasegate_core::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::Message;

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum From {
    Client,
    Server,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    session: String,
    server: String,
    from: From,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    closed: bool,
}

/// The body of an opened frame: the message stays text, so that its codec reads it as strictly as the relay does.
#[derive(Serialize, Deserialize)]
struct Body {
    server: String,
    from: From,
    message: Option<String>,
}

/// A frame with its message.
pub(crate) struct Seen {
    pub(crate) server: String,
    pub(crate) from: From,
    /// The message; `None` says that the client is gone.
    pub(crate) message: Option<Message>,
}

/// Parses a frame.
pub(crate) fn open(frame: &Frame) -> Result<Opened, Problem> {
    let Written { session, server, from, message, closed } =
        serde_json::from_slice(&frame.bytes).map_err(|error| bad(format!("a frame that cannot be read: {error}")))?;
    if message.is_none() && !closed {
        return Err(bad("a frame with neither `message` nor `closed`".into()));
    }
    let read = message.and_then(|json| Message::read(json.get().as_bytes().to_vec()).ok());
    let event = match (message, &read) {
        (Some(_), Some(read)) => read.method().unwrap_or("answer"),
        _ => "closed",
    };
    let event = event.to_owned();
    let body = Body { server, from, message: message.map(|json| json.get().to_owned()) };
    let body = serde_json::to_value(body).map_err(|error| bad(error.to_string()))?;
    Ok(Opened { session, event, body, ..Opened::default() })
}

/// Where a message was seen, and the message if it can be read.
pub(crate) fn seen(opened: &Opened) -> Result<(Seen, Option<Problem>), Problem> {
    let Body { server, from, message } =
        Body::deserialize(&opened.body).map_err(|error| bad(format!("a frame that cannot be read: {error}")))?;
    let (message, problem) = match message {
        Some(json) => match Message::read(json.into_bytes()) {
            Ok(message) => (Some(message), None),
            Err(malformed) => (None, Some(bad(malformed.text))),
        },
        None => (None, None),
    };
    Ok((Seen { server, from, message }, problem))
}

fn bad(text: String) -> Problem {
    Problem::new(Code::BadInput, text)
}
