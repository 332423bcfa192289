//! A message with what its decoding depends on: the session before it, and what the adapter remembers.

use phasegate_adapter::{Memory, Message, Problem, SessionView};
use phasegate_core::EventKind;
use phasegate_core::calls::tool::AGENT;
use phasegate_core::events::event::SessionSource;
use phasegate_core::state::OpenCall;

use crate::memory::Remembered;
use crate::wire::Told;

/// One message while it is decoded.
pub(crate) struct Decoding<'a> {
    pub(crate) told: Told<'a>,
    pub(crate) session: &'a SessionView<'a>,
    pub(crate) memory: Remembered,
}

impl<'a> Decoding<'a> {
    /// Reads the message's head.
    pub(crate) fn of(message: &'a Message, session: &'a SessionView<'a>) -> Result<Self, Problem> {
        let memory = Remembered::from_memory(session.memory());
        Ok(Self { told: Told::of(message)?, session, memory })
    }

    /// What is to be remembered after the message.
    pub(crate) fn into_memory(self) -> Memory {
        self.memory.into_memory()
    }

    /// The id of the subagent whose session the message is about; `None` for the main agent.
    pub(crate) fn subagent(&self) -> Option<&str> {
        self.told.head.session.subagent()
    }

    /// Whether any call of the session or of its subagents runs, but for those in the background.
    pub(crate) fn is_busy(&self) -> bool {
        self.session.open_calls().any(|call| !call.launched)
    }

    /// Whether a call of the main agent runs, but for those in the background.
    pub(crate) fn main_agent_works(&self) -> bool {
        self.session.open_calls().any(|call| !call.launched && call.agent.is_none())
    }

    /// A process meets a session that it did not begin.
    pub(crate) fn opened(&mut self) -> Vec<EventKind> {
        if self.subagent().is_some() {
            return Vec::new();
        }
        self.memory = Remembered::default();
        vec![EventKind::SessionStart { source: SessionSource::Resume, parent: None }]
    }

    /// The process that served a session ends.
    pub(crate) fn closed(&mut self) -> Vec<EventKind> {
        if self.subagent().is_some() || !self.session.is_running() {
            return Vec::new();
        }
        self.memory = Remembered::default();
        vec![EventKind::SessionEnd {}]
    }

    /// A subagent's session begins, of this title where the client says it, or goes on with another prompt. `None` if the
    /// subagent works already.
    pub(crate) fn subagent_started(&self, title: Option<&str>) -> Option<EventKind> {
        let session = &self.told.head.session;
        let id = session.subagent().filter(|id| self.session.agents().all(|known| known != *id))?;
        let call = session.parent.as_deref().and_then(|parent| self.starter(parent, id, title));
        let kind = session.agent.clone().unwrap_or_default();
        Some(EventKind::SubagentStart { id: id.to_owned(), kind, call, prompt: None })
    }

    /// A subagent's session waits or is gone. `None` if the subagent did not work.
    pub(crate) fn subagent_stopped(&self) -> Option<EventKind> {
        let id = self.subagent().filter(|id| self.session.agents().any(|known| known == *id))?;
        let kind = self.told.head.session.agent.clone().unwrap_or_default();
        Some(EventKind::SubagentStop { id: id.to_owned(), kind, message: None, can_hold: false })
    }

    /// The call that began a subagent's session, if the client said so, or if only one of its parent's can have: the only
    /// one, or the only one whose description the title begins with.
    fn starter(&self, parent: &str, agent: &str, title: Option<&str>) -> Option<String> {
        if let Some(call) = self.memory.launcher(agent) {
            return Some(call.to_owned());
        }
        let parent = (parent != self.told.head.session.root()).then_some(parent);
        let starts = |call: &&OpenCall| call.agent.as_deref() == parent && call.tool == AGENT && !call.launched;
        let described = title.and_then(|title| title.rsplit_once(" (@")).map(|(described, _)| described);
        let is_titled = |call: &&OpenCall| described.is_some() && call.starts_as.as_deref() == described;
        let mut titled =
            self.session.open_calls().filter(starts).filter(|call| call.started.is_none()).filter(is_titled);
        if let (Some(one), None) = (titled.next(), titled.next()) {
            return one.id.clone();
        }
        let mut starters = self.session.open_calls().filter(starts);
        match (starters.next(), starters.next()) {
            (Some(one), None) => one.id.clone(),
            _ => None,
        }
    }
}
