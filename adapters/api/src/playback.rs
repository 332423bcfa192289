//! Playback: messages through a codec and the engine, without a policy. For tests and recordings.

use phasegate_core::{Facts, Policy, State, step};

use crate::codec::{Codec, Decoded};
use crate::frame::Message;
use crate::problem::Problem;
use crate::session::{Memory, SessionView};

/// One session that messages are played in. Every call is let through.
#[derive(Clone, Debug, Default)]
pub struct Playback {
    policy: Policy,
    state: State,
    memory: Memory,
}

impl Playback {
    /// Decodes the session's next message, and steps its events.
    ///
    /// # Errors
    ///
    /// The message cannot be decoded; the session stays as it was.
    pub fn decode(&mut self, codec: &dyn Codec, message: &Message) -> Result<Decoded, Problem> {
        let decoded = codec.decode(message, &SessionView::new(&self.memory, Some(&self.state.session)))?;
        for event in &decoded.events {
            step(&self.policy, &self.state, event, &Facts::new()).apply_to(&mut self.state);
        }
        self.memory.clone_from(&decoded.memory);
        Ok(decoded)
    }
}
