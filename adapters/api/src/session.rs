//! What a codec may know of a session while it decodes a frame.

use phasegate_core::state::{OpenCall, Session};
use serde_json::Value;

/// What an adapter keeps between the frames of one session. Small; `Null` at the start.
pub type Memory = Value;

static NOTHING: Memory = Memory::Null;

/// A read-only view of a session before the frame: the adapter's own memory, and the calls and agents that the engine
/// tracks. A codec reads open calls here and keeps no list of its own.
#[derive(Clone, Copy, Debug)]
pub struct SessionView<'a> {
    memory: &'a Memory,
    session: Option<&'a Session>,
}

impl<'a> SessionView<'a> {
    /// A view of this memory and this state. `None`: the session has no state yet.
    #[must_use]
    pub fn new(memory: &'a Memory, session: Option<&'a Session>) -> Self {
        Self { memory, session }
    }

    /// A view of a session of which nothing is known.
    #[must_use]
    pub fn empty() -> SessionView<'static> {
        SessionView { memory: &NOTHING, session: None }
    }

    /// What the adapter kept after the frame before.
    #[must_use]
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Whether a start of the session was ever seen.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.session.is_some_and(|session| session.source.is_some())
    }

    /// Whether the session has started, and not ended since.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.has_started() && self.session.is_some_and(|session| !session.ended)
    }

    /// The calls that were let through and have not ended, oldest first.
    pub fn open_calls(&self) -> impl DoubleEndedIterator<Item = &'a OpenCall> + use<'a> {
        self.session.into_iter().flat_map(|session| &session.calls).map(AsRef::as_ref)
    }

    /// The open call with this id.
    #[must_use]
    pub fn open_call(&self, id: &str) -> Option<&'a OpenCall> {
        self.open_calls().find(|call| call.id.as_deref() == Some(id))
    }

    /// The ids of the subagents that have started and not stopped.
    pub fn agents(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.session.into_iter().flat_map(|session| &session.agents).map(|agent| agent.id.as_str())
    }
}
