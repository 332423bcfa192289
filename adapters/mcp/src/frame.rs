//! A frame: one message with where it was seen, as an object of one line.
//!
//! `{"session": "1", "server": "lsp", "from": "client", "message": {...}}`; the message is kept as it was sent. In place
//! of a message, `"closed": true` says that the client is gone.

use phasegate_adapter::{Frame, Problem};
use phasegate_core::Code;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::Message;

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

/// A frame, read.
pub(crate) struct Seen {
    pub(crate) session: String,
    pub(crate) server: String,
    pub(crate) from: From,
    /// The message; `None` says that the client is gone.
    pub(crate) message: Option<Message>,
}

/// Where a frame was seen, and its message if that can be read.
pub(crate) fn read(frame: &Frame) -> Result<(Seen, Option<Problem>), Problem> {
    let bad = |text: String| Problem::new(Code::BadInput, text);
    let written: Written<'_> =
        serde_json::from_slice(&frame.bytes).map_err(|error| bad(format!("a frame that cannot be read: {error}")))?;
    let (message, problem) = match written.message {
        Some(json) => match Message::read(json.get().as_bytes().to_vec()) {
            Ok(message) => (Some(message), None),
            Err(malformed) => (None, Some(bad(malformed.text))),
        },
        None if written.closed => (None, None),
        None => return Err(bad("a frame with neither `message` nor `closed`".into())),
    };
    Ok((Seen { session: written.session, server: written.server, from: written.from, message }, problem))
}
