//! How a message of the client is handled.

use super::pending::{FanOut, Pending};
use crate::id::Id;
use crate::message::Message;

/// How a message of the client is handled.
pub(super) enum Act {
    /// It goes to this server, and its answer means something.
    Ask(usize, Message, Pending),
    /// It goes to this server and asks nothing.
    Tell(usize, Message),
    /// It goes to all servers and asks nothing.
    TellAll(Message),
    /// Each of several servers is asked its part.
    FanOut(FanOut, Vec<(usize, Message)>),
    /// The request is answered here.
    Answer(Id, String),
    /// It is answered here, as no request is known to which the answer belongs.
    Object(String),
    /// The client gave up a request.
    Cancel(Message),
    /// Nothing.
    Drop,
}
