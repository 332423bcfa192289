//! What the agent says inside of a turn: read from the client's own record where a phase asks for a message, and a hook tells
//! none before the turn ends.

use phasegate_adapter::{Adapter, Message};
use phasegate_core::events::agent_message::{self, ASSISTANT, is_asked};
use phasegate_core::{Event, EventKind};

use super::Driver;
use crate::clients::client_records::ReadRecord;
use crate::deadline::limit_from_environment;
use crate::sessions::snapshot::SessionChange;

impl Driver<'_> {
    /// What the main agent said before a call, as events before those of the frame. It is looked for only where a phase asks
    /// for a message.
    pub(crate) fn untold_words(&mut self, adapter: &dyn Adapter, message: &Message, events: &[Event]) -> Vec<Event> {
        let call = events.iter().find_map(|event| {
            let EventKind::ToolCall { id, .. } = &event.kind else {
                return matches!(event.kind, EventKind::BatchEnd {}).then_some(None);
            };
            Some(id.as_deref())
        });
        let (Some(call), Some(first), Some(record)) = (call, events.first(), adapter.client_record()) else {
            return Vec::new();
        };
        if first.subagent().is_some() || !self.is_asked_for_words(first) {
            return Vec::new();
        }
        let own = |kept: &ReadRecord| record.place(message).is_some_and(|place| place.file == kept.file);
        let Some(mut kept) = self.loaded.own.snapshot.record.clone().filter(own) else { return Vec::new() };
        let said = kept.hear(record, call, limit_from_environment() / 4);
        if said.is_empty() {
            return Vec::new();
        }
        self.loaded.own.change(SessionChange::RecordRead(kept.read_since(Some(&kept))));
        let event = |text| {
            let kind = EventKind::Message { id: String::new(), role: ASSISTANT.into(), text, complete: true };
            Event { kind, ..first.clone() }
        };
        said.into_iter().map(event).collect()
    }

    /// Has a phase that was entered hear only what is said from now on. One that words brought about hears the rest of them.
    pub(super) fn pass_over_words(&mut self, event: &Event, now: i64) {
        let record =
            self.loaded.own.snapshot.record.as_ref().filter(|_| is_asked(&self.loaded.own.policy, &self.state));
        let (Some(kept), None) = (record, agent_message::message(event)) else { return };
        let kept = ReadRecord { heard: now, ..kept.clone() };
        self.loaded.own.change(SessionChange::RecordRead(kept.read_since(Some(&kept))));
    }

    /// Whether a message of the main agent would be looked at.
    fn is_asked_for_words(&mut self, event: &Event) -> bool {
        self.state.live_runs().next().is_some()
            && !self.version().is_empty()
            && self.choose_policy(event).is_ok()
            && is_asked(&self.loaded.own.policy, &self.state)
    }
}
