//! A link: one end of a connection, as messages in and messages out.
//!
//! The code that creates links knows pipes or HTTP; the relay that connects them knows neither.

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::message::id::Id;
use crate::message::{Malformed, Message};

/// How many messages wait in each direction of a link before the sender must wait.
pub const MAX_WAITING_MESSAGES: usize = 64;

/// A message with where it belongs.
#[derive(Clone, Debug)]
pub struct Routed {
    /// The message.
    pub message: Message,
    /// The id of the request in whose course it is sent, as the one who made that request knows it, where that is known:
    /// on HTTP it belongs into the stream of that request's answer. Boxed: each link keeps room for dozens of messages.
    pub related: Option<Box<Id>>,
}

impl From<Message> for Routed {
    fn from(message: Message) -> Self {
        Self { message, related: None }
    }
}

/// What arrives on a link: a message, or invalid bytes. The link has ended when nothing more arrives.
///
/// What is wrong is boxed: each link keeps room for dozens of messages.
pub type Arrived = Result<Routed, Box<Malformed>>;

/// One end of a connection.
#[derive(Debug)]
pub struct Link {
    /// What goes out.
    pub to: Sender<Routed>,
    /// What comes in.
    pub from: Receiver<Arrived>,
}

/// The other end of a [`Link`], held by the owner of the connection.
#[derive(Debug)]
pub struct Wire {
    /// What came over the connection and goes into the link.
    pub to: Sender<Arrived>,
    /// What came out of the link and goes over the connection. It ends when the link was dropped.
    pub from: Receiver<Routed>,
}

/// Both ends of a new link.
pub fn link() -> (Link, Wire) {
    let (to_wire, from_link) = channel(MAX_WAITING_MESSAGES);
    let (to_link, from_wire) = channel(MAX_WAITING_MESSAGES);
    (Link { to: to_wire, from: from_wire }, Wire { to: to_link, from: from_link })
}
