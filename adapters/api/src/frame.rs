//! Frames: one native message as bytes, and as the message that [`crate::codec::Codec::open`] reads from it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One native message, as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The bytes as the platform sent them, valid or not.
    pub bytes: Vec<u8>,
    /// The environment variables of the process that received the frame.
    pub environment: BTreeMap<String, String>,
}

impl Frame {
    /// A frame with these bytes and an empty environment.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), environment: BTreeMap::new() }
    }

    /// Those of the named environment variables that are set, for [`Message::environment`].
    #[must_use]
    pub fn variables(&self, names: &[&str]) -> BTreeMap<String, String> {
        let set = names.iter().filter_map(|name| self.environment.get_key_value(*name));
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// A frame that was parsed. It owns all that its codec needs later: nothing reads the frame's bytes again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The platform's session id. Never empty.
    pub session: String,
    /// The session's working directory, where the frame states it.
    pub cwd: Option<PathBuf>,
    /// The platform's own word for what happened.
    pub event: String,
    /// The parsed body. Only the codec that made it knows its form.
    pub body: Value,
    /// The environment variables that the codec reads.
    pub environment: BTreeMap<String, String>,
}

/// What a refusal answers: a message, or a frame of which no message could be read.
#[derive(Clone, Copy, Debug)]
pub enum Received<'a> {
    /// The frame was parsed.
    Message(&'a Message),
    /// The frame could not be parsed, or was not parsed yet.
    Unread(&'a Frame),
}

impl<'a> Received<'a> {
    /// The message, if the frame was parsed.
    #[must_use]
    pub fn message(self) -> Option<&'a Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Unread(_) => None,
        }
    }
}
