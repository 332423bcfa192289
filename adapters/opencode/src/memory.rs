//! What the adapter remembers between the frames of a session, beside what the engine knows: which messages are the
//! agent's, which calls questions are about, which calls started subagents in the background, and which calls have not been
//! reported to have ended.

use phasegate_adapter::Memory;
use serde::{Deserialize, Serialize};

/// The most entries of one kind that are remembered; the oldest is forgotten first.
const MAX_ENTRIES: usize = 64;
/// The most messages whose text may still come.
const MAX_MESSAGES: usize = 8;

/// What is remembered of a session and the subagents' sessions below it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Remembered {
    /// The calls whose end the client has not reported: those that were denied, and those that were broken off, too. The
    /// engine knows neither.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<String>,
    /// The subagents that were started in the background, and the calls that did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    launched: Vec<(String, String)>,
    /// The agent's messages whose text may still come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// The questions to the user, and the calls that they are about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asked: Vec<(String, String)>,
    /// The tool of a call that ran with other arguments than those that were decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
}

impl Remembered {
    /// Takes up what was remembered. What cannot be read is forgotten: then nothing is tied.
    pub(crate) fn from_memory(memory: &Memory) -> Self {
        Self::deserialize(memory).unwrap_or_default()
    }

    /// What is to be remembered.
    pub(crate) fn into_memory(self) -> Memory {
        if self == Self::default() {
            return Memory::Null;
        }
        serde_json::to_value(self).unwrap_or_default()
    }

    /// A call is put to the guard.
    pub(crate) fn note_call(&mut self, call: &str) {
        self.pending.retain(|known| known != call);
        push(&mut self.pending, call.to_owned(), MAX_ENTRIES);
    }

    /// The client reports the end of a call; whether that is news.
    pub(crate) fn note_end(&mut self, call: &str) -> bool {
        let before = self.pending.len();
        self.pending.retain(|known| known != call);
        before != self.pending.len()
    }

    /// A call started a subagent in the background.
    pub(crate) fn launched(&mut self, agent: &str, call: &str) {
        push(&mut self.launched, (agent.to_owned(), call.to_owned()), MAX_ENTRIES);
    }

    /// The call that started this subagent in the background.
    pub(crate) fn launcher(&self, agent: &str) -> Option<&str> {
        self.launched.iter().find(|(known, _)| known == agent).map(|(_, call)| call.as_str())
    }

    /// A message is the agent's.
    pub(crate) fn note_message(&mut self, message: &str) {
        self.messages.retain(|known| known != message);
        push(&mut self.messages, message.to_owned(), MAX_MESSAGES);
    }

    /// Whether a message is the agent's.
    pub(crate) fn is_agents(&self, message: &str) -> bool {
        self.messages.iter().any(|known| known == message)
    }

    /// The user is asked about a call.
    pub(crate) fn asked(&mut self, question: &str, call: &str) {
        push(&mut self.asked, (question.to_owned(), call.to_owned()), MAX_ENTRIES);
    }

    /// The user has answered; the call that the question was about.
    pub(crate) fn answered(&mut self, question: &str) -> Option<String> {
        let at = self.asked.iter().position(|(known, _)| known == question)?;
        Some(self.asked.remove(at).1)
    }

    /// A call ran with other arguments than those that were decided.
    pub(crate) fn note_changed(&mut self, tool: &str) {
        self.changed.get_or_insert_with(|| tool.to_owned());
    }

    /// The tool of the first call that did.
    pub(crate) fn changed(&self) -> Option<&str> {
        self.changed.as_deref()
    }
}

fn push<T>(list: &mut Vec<T>, entry: T, most: usize) {
    list.push(entry);
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_ENTRIES, MAX_MESSAGES, Remembered};

    #[test]
    fn memory_is_bounded_and_survives_nonsense() {
        let mut remembered = Remembered::default();
        for number in 0..200 {
            remembered.note_call(&format!("c{number}"));
            remembered.launched(&format!("a{number}"), "c");
            remembered.note_message(&format!("m{number}"));
            remembered.asked(&format!("q{number}"), "c");
        }
        let Remembered { pending, launched, messages, asked, .. } = &remembered;
        assert_eq!(pending.len(), MAX_ENTRIES);
        assert_eq!((launched.len(), messages.len(), asked.len()), (MAX_ENTRIES, MAX_MESSAGES, MAX_ENTRIES));
        let memory = remembered.into_memory();
        assert_eq!(Remembered::from_memory(&memory).into_memory(), memory);
        assert_eq!(Remembered::from_memory(&json!({"asked": 7})), Remembered::default());
        assert_eq!(Remembered::default().into_memory(), Value::Null);
    }
}
