//! How a message of the client is handled.

use phasegate_adapter::guarded::GuardedSession;
use phasegate_core::Decision;

use super::pending::{FanOut, Pending};
use crate::denial;
use crate::message::Message;
use crate::message::id::Id;

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
    /// The client's user is asked about the call.
    Question(Box<Asked>),
    /// The request is answered here.
    Answer(Id, String),
    /// It is answered here, as no request is known to which the answer belongs.
    Object(String),
    /// The client gave up a request.
    Cancel(Message),
    /// Nothing.
    Drop,
}

/// A call that waits for a person's answer.
pub(super) struct Asked {
    /// The client's request.
    pub(super) message: Message,
    /// The id of that request.
    pub(super) id: Id,
    /// The id that the events of the call carry.
    pub(super) call: String,
    pub(super) session: GuardedSession,
    /// The question.
    pub(super) decision: Box<Decision>,
    /// The name by which the client called the tool.
    pub(super) tool: String,
    /// The form of a denial.
    pub(super) form: denial::Form,
}
