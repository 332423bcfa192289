//! One JSON-RPC message: its bytes, and what was read of its envelope.
//!
//! What passes through is forwarded as the same bytes. Only the envelope is read; parameters and results stay text.

pub mod id;
pub mod object;
pub mod tool_call;
pub mod own;
#[cfg(feature = "proxy")]
pub(crate) mod batches;

use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::message::id::Id;
use crate::message::object::{Object, span};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It asks, and has an id and a method.
    Request,
    /// It tells, and has a method.
    Notification,
    /// It answers with a result.
    Result,
    /// It answers with an error.
    Error,
}

/// One JSON-RPC message in one line: no line break is in its bytes.
#[derive(Clone, Debug)]
pub struct Message(Arc<Read>);

/// What was read of a message. Copies share it: many wait in many links at once.
#[derive(Clone, Debug)]
struct Read {
    bytes: Bytes,
    kind: Kind,
    id: Option<Id>,
    method: Option<String>,
    id_at: Range<usize>,
    content_at: Option<Range<usize>>,
}

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong with them.
    pub fault: Fault,
    /// The id, where it could be read without doubt: the error goes there.
    pub id: Option<Id>,
    /// What exactly is wrong, as a fragment without a full stop.
    pub text: String,
}

/// What is wrong with bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They are no JSON.
    NoJson,
    /// They are JSON and no message, or could be taken for more than one.
    NoMessage,
    /// They are a list of messages, which the protocol had in revision 2025-03-26 only.
    Batch,
    /// They are more than is read.
    TooLarge,
}

impl Fault {
    /// The error number of JSON-RPC.
    pub fn number(self) -> i64 {
        match self {
            Self::NoJson => -32700,
            Self::NoMessage | Self::Batch | Self::TooLarge => -32600,
        }
    }
}

impl Malformed {
    fn new(fault: Fault, id: Option<Id>, text: impl Into<String>) -> Self {
        Self { fault, id, text: text.into() }
    }

    /// Bytes that are more than is read.
    pub fn too_large(limit: usize) -> Self {
        Self::new(Fault::TooLarge, None, format!("the message is larger than {limit} bytes"))
    }
}

/// The keys of an envelope. A reader that does not look at case takes `Method` for one.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    ///
    /// The bytes are no message, or one that two readers could take for different ones: a key is given twice, or in
    /// another case; a method comes with a result.
    pub fn read(bytes: impl Into<Bytes>) -> Result<Self, Malformed> {
        let bytes = on_one_line(bytes.into());
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            let text = "messages come one at a time; only revision 2025-03-26 has lists of them";
            return Err(Malformed::new(Fault::Batch, None, text));
        }
        let object = Object::read(&bytes).map_err(|text| {
            let json = serde_json::from_slice::<&serde_json::value::RawValue>(&bytes).is_ok();
            let fault = if json { Fault::NoMessage } else { Fault::NoJson };
            Malformed::new(fault, None, text)
        })?;
        let doubtful = object.doubtful(&KEYS).map(ToOwned::to_owned);
        let sure = |key: &str| doubtful.as_deref().is_none_or(|name| !object::is_alike(name, key));
        let id = object.get("id").filter(|_| sure("id")).and_then(|json| Id::read(json.as_bytes()));
        let malformed = |text: String| Malformed::new(Fault::NoMessage, id.clone(), text);
        if let Some(name) = doubtful {
            return Err(malformed(format!(
                "the key `{name}` is given twice, or is one key to some and another to others"
            )));
        }
        if object.text("jsonrpc").as_deref() != Some("2.0") {
            return Err(malformed("`jsonrpc` is not \"2.0\"".into()));
        }
        let method = match object.get("method") {
            Some(json) => Some(serde_json::from_str(json).map_err(|_| malformed("`method` is not a text".into()))?),
            None => None,
        };
        let (kind, content) = kind(&object, method.is_some()).map_err(|text| malformed(text.into()))?;
        if object.get("id").is_some() && id.is_none() && kind != Kind::Error {
            return Err(malformed("`id` is neither a text nor a whole number".into()));
        }
        let at = |json: Option<&str>| json.and_then(|json| span(&bytes, json));
        let (id_at, content_at) = (at(object.get("id")).unwrap_or_default(), at(content));
        Ok(Self(Arc::new(Read { kind, id, method, id_at, content_at, bytes })))
    }

    /// A message that was made here; `None` if it is none, which no caller's JSON is.
    pub fn made(json: String) -> Option<Self> {
        Self::read(json.into_bytes()).ok()
    }

    /// The message as it is sent, without a line break.
    pub fn bytes(&self) -> &Bytes {
        &self.0.bytes
    }

    /// The message as text.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0.bytes).into_owned()
    }

    /// What the message is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The id: of a request always, of a result always, of an error where the one who answers knew it.
    pub fn id(&self) -> Option<&Id> {
        self.0.id.as_ref()
    }

    /// The method of a request or notification, with its escapes read.
    pub fn method(&self) -> Option<&str> {
        self.0.method.as_deref()
    }

    /// The JSON text of the parameters, the result or the error; empty if there are no parameters.
    pub fn content(&self) -> &[u8] {
        self.0.content_at.clone().and_then(|at| self.0.bytes.get(at)).unwrap_or_default()
    }

    /// The same message under another id.
    pub fn with_id(&self, id: &Id) -> Self {
        self.spliced(self.0.id_at.clone(), id.json().as_bytes(), Some(id.clone()))
    }

    /// The same message with other parameters, or another result or error; without parameters, they are added.
    pub fn with_content(&self, json: &[u8]) -> Self {
        match &self.0.content_at {
            Some(at) => self.spliced(at.clone(), json, self.0.id.clone()),
            None => {
                let mut field = b",\"params\":".to_vec();
                field.extend_from_slice(json);
                let end = self.0.bytes.iter().rposition(|byte| *byte == b'}').unwrap_or(self.0.bytes.len());
                self.spliced(end..end, &field, self.0.id.clone())
            }
        }
    }

    fn spliced(&self, at: Range<usize>, with: &[u8], id: Option<Id>) -> Self {
        let (before, after) =
            (self.0.bytes.get(..at.start).unwrap_or_default(), self.0.bytes.get(at.end..).unwrap_or_default());
        let mut bytes = BytesMut::with_capacity(before.len() + with.len() + after.len());
        for piece in [before, with, after] {
            bytes.put_slice(piece);
        }
        // What was a message is one still; should it not be, the message stays as it was.
        Self::read(bytes.freeze()).unwrap_or_else(|_| Self(Arc::new(Read { id, ..Read::clone(&self.0) })))
    }
}

fn kind<'a>(object: &Object<'a>, method: bool) -> Result<(Kind, Option<&'a str>), &'static str> {
    let (result, error) = (object.get("result"), object.get("error"));
    match (method, result, error) {
        (true, None, None) if object.get("id").is_some() => Ok((Kind::Request, object.get("params"))),
        (true, None, None) => Ok((Kind::Notification, object.get("params"))),
        (false, Some(_), None) if object.get("id").is_none() => Err("a result without `id`"),
        (false, Some(_), None) => Ok((Kind::Result, result)),
        (false, None, Some(_)) => Ok((Kind::Error, error)),
        (false, None, None) => Err("neither `method`, `result` nor `error`"),
        _ => Err("more than one of `method`, `result` and `error`"),
    }
}

/// Within JSON a line break stands between values only, so a blank says the same; on a stream of lines it would begin
/// another message.
fn on_one_line(bytes: Bytes) -> Bytes {
    let breaks = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if !bytes.iter().any(breaks) {
        return bytes;
    }
    bytes.iter().map(|byte| if breaks(byte) { b' ' } else { *byte }).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests;
