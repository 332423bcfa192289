//! Codecs: native frames to events, verdicts to native replies.

use phasegate_core::{Code, Event};

use crate::frame::{Frame, Message, Received};
use crate::problem::Problem;
use crate::reply::{Output, Reply};
use crate::session::{Memory, SessionView};
use crate::verdict::Verdict;

/// Translates the frames of one platform. A codec is pure: it sees no store, no clock and no config.
pub trait Codec: Send + Sync {
    /// Parses a frame. Nothing parses it again: the message is carried to the reply.
    ///
    /// # Errors
    ///
    /// The frame is not in the platform's form, or names no session.
    fn open(&self, frame: &Frame) -> Result<Message, Problem>;

    /// Turns a message into the events it stands for, in order. Events after a denied one are not stepped.
    ///
    /// # Errors
    ///
    /// The message is not in the platform's form.
    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem>;

    /// Renders the verdict on a message as the platform's own reply.
    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply;

    /// Renders a denial that the platform honours, for a frame that cannot be decided. It must succeed for every frame,
    /// also for one that could not be parsed.
    fn refuse(&self, received: Received<'_>, problem: &Problem) -> Reply;

    /// Renders a warning: the frame passes, and the problem is reported.
    fn warn(&self, received: Received<'_>, problem: &Problem) -> Reply;
}

/// What a message stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The events, in order. Empty for a message that means nothing to the guard.
    pub events: Vec<Event>,
    /// The adapter's memory after the message.
    pub memory: Memory,
}

/// The codec of a platform that sends no frames, such as one that is guarded by a proxy. It refuses every frame.
#[derive(Clone, Copy, Debug)]
pub struct NoFrames {
    /// How the platform is guarded instead, as a sentence without a full stop.
    pub instead: &'static str,
}

impl Codec for NoFrames {
    fn open(&self, _: &Frame) -> Result<Message, Problem> {
        Err(Problem::new(Code::BadInput, self.instead))
    }

    fn decode(&self, _: &Message, _: &SessionView<'_>) -> Result<Decoded, Problem> {
        Err(Problem::new(Code::BadInput, self.instead))
    }

    fn reply(&self, _: &Message, _: &Verdict) -> Reply {
        Reply::Nothing
    }

    fn refuse(&self, _: Received<'_>, problem: &Problem) -> Reply {
        let stderr = format!("{}\n", problem.text()).into_bytes();
        Reply::Output(Output { stdout: Vec::new(), stderr, status: 2 })
    }

    fn warn(&self, received: Received<'_>, problem: &Problem) -> Reply {
        self.refuse(received, problem)
    }
}
