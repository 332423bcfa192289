//! A frame and the message that was read from it.

use std::sync::OnceLock;

use phasegate_adapter::{Adapter, Frame, Message, Problem, Received};

use crate::bounds;

/// A frame that is opened once, and then carried with its message.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The frame.
    pub frame: Frame,
    message: OnceLock<Result<Message, Problem>>,
}

impl Opened {
    /// A frame that nothing has opened yet.
    pub fn new(frame: Frame) -> Self {
        Self { frame, message: OnceLock::new() }
    }

    /// The message; the first call parses the frame.
    ///
    /// # Errors
    ///
    /// The frame is not in the platform's form.
    pub fn open(&self, adapter: &dyn Adapter) -> Result<&Message, Problem> {
        let open = || {
            let message = adapter.codec().open(&self.frame)?;
            bounds::message(&message)?;
            Ok(message)
        };
        self.message.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// The message, if the frame was opened and could be.
    pub fn message(&self) -> Option<&Message> {
        self.message.get()?.as_ref().ok()
    }

    /// What a refusal answers.
    pub fn received(&self) -> Received<'_> {
        self.message().map_or(Received::Unread(&self.frame), Received::Message)
    }
}
