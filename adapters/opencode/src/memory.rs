//! What is remembered between the frames of a session: calls that are open, subagents that work, which messages are the
//! agent's.

use phasegate_adapter::Memory;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The most entries of one kind that are remembered; the oldest is forgotten first.
const MOST: usize = 64;

/// What is remembered of a session and the subagents' sessions below it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The open calls, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
    /// The subagents that work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
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
    /// Whether the session has begun.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    begun: bool,
}

/// A call that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) id: String,
    /// The session that called.
    by: String,
    /// The client's own name of the tool.
    pub(crate) tool: String,
    /// A digest of the arguments.
    digest: String,
    /// Whether the turn is over in which it ran: how it ended may still be told, and counts for nothing.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    over: bool,
}

impl Kept {
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

    /// The session begins, or goes on in another process: nothing of the time before is open.
    pub(crate) fn begins(&mut self) {
        *self = Self { begun: true, ..Self::default() };
    }

    /// Whether the session has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// A call is about to run.
    pub(crate) fn opened(&mut self, (id, by): (&str, &str), tool: &str, input: &Value) {
        self.open.retain(|open| open.id != id);
        push(
            &mut self.open,
            Open { id: id.into(), by: by.into(), tool: tool.into(), digest: digest(input), over: false },
        );
    }

    /// A call ended; what was remembered of it.
    pub(crate) fn ended(&mut self, id: &str) -> Option<Open> {
        let at = self.open.iter().position(|open| open.id == id)?;
        Some(self.open.remove(at))
    }

    /// Whether any call is open.
    pub(crate) fn busy(&self) -> bool {
        self.open.iter().any(|open| !open.over)
    }

    /// Whether a call of this session is open.
    pub(crate) fn works(&self, session: &str) -> bool {
        self.open.iter().any(|open| open.by == session && !open.over)
    }

    /// The turn is over in which a session's calls ran. The client tells the end of a call that was broken off only then.
    pub(crate) fn all_ended(&mut self, by: &str) {
        self.open.retain(|open| open.by != by || !open.over);
        self.open.iter_mut().filter(|open| open.by == by).for_each(|open| open.over = true);
    }

    /// A call started a subagent in the background.
    pub(crate) fn launched(&mut self, agent: &str, call: &str) {
        push(&mut self.launched, (agent.to_owned(), call.to_owned()));
    }

    /// The call that began a subagent's session, if that was told, or if only one of its parent's can have.
    pub(crate) fn starter(&self, parent: &str, agent: &str) -> Option<String> {
        if let Some((_, call)) = self.launched.iter().find(|(known, _)| known == agent) {
            return Some(call.clone());
        }
        let mut tasks = self.open.iter().filter(|open| open.by == parent && open.tool == "task" && !open.over);
        match (tasks.next(), tasks.next()) {
            (Some(one), None) => Some(one.id.clone()),
            _ => None,
        }
    }

    /// A subagent works; whether that is news.
    pub(crate) fn agent_starts(&mut self, id: &str) -> bool {
        let new = !self.agents.iter().any(|known| known == id);
        if new {
            push(&mut self.agents, id.to_owned());
        }
        new
    }

    /// A subagent works no more; whether that is news.
    pub(crate) fn agent_stops(&mut self, id: &str) -> bool {
        let before = self.agents.len();
        self.agents.retain(|known| known != id);
        before != self.agents.len()
    }

    /// A message is the agent's.
    pub(crate) fn spoken(&mut self, message: &str) {
        self.messages.retain(|known| known != message);
        push(&mut self.messages, message.to_owned());
        let surplus = self.messages.len().saturating_sub(8);
        self.messages.drain(..surplus);
    }

    /// Whether a message is the agent's.
    pub(crate) fn is_agents(&self, message: &str) -> bool {
        self.messages.iter().any(|known| known == message)
    }

    /// The user is asked about a call.
    pub(crate) fn asked(&mut self, question: &str, call: &str) {
        push(&mut self.asked, (question.to_owned(), call.to_owned()));
    }

    /// The user has answered; the call that the question was about.
    pub(crate) fn answered(&mut self, question: &str) -> Option<String> {
        let at = self.asked.iter().position(|(known, _)| known == question)?;
        Some(self.asked.remove(at).1)
    }

    /// A call ran with other arguments than those that were decided.
    pub(crate) fn tampered(&mut self, tool: &str) {
        self.changed.get_or_insert_with(|| tool.to_owned());
    }

    /// The tool of the first call that did.
    pub(crate) fn changed(&self) -> Option<&str> {
        self.changed.as_deref()
    }
}

impl Open {
    /// Whether the call had these arguments when it was decided.
    pub(crate) fn had(&self, input: &Value) -> bool {
        self.digest == digest(input)
    }
}

fn push<T>(list: &mut Vec<T>, entry: T) {
    list.push(entry);
    let surplus = list.len().saturating_sub(MOST);
    list.drain(..surplus);
}

/// The same for the same arguments, whatever the order of their keys.
fn digest(input: &Value) -> String {
    let text = phasegate_adapter::text::sorted(input).to_string();
    Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kept, MOST};

    #[test]
    fn one_open_task_is_tied_to_its_subagent() {
        let mut kept = Kept::default();
        kept.opened(("c0", "root"), "bash", &Value::Null);
        kept.opened(("c1", "root"), "task", &Value::Null);
        assert_eq!(kept.starter("root", "a1").as_deref(), Some("c1"));
        kept.opened(("c2", "root"), "task", &Value::Null);
        assert_eq!(kept.starter("root", "a1"), None);
        kept.launched("a2", "c0");
        assert_eq!(kept.starter("root", "a2").as_deref(), Some("c0"));
        kept.ended("c1");
        assert_eq!(kept.starter("root", "a1").as_deref(), Some("c2"));
    }

    #[test]
    fn other_arguments_are_noticed_and_other_orders_are_not() {
        let mut kept = Kept::default();
        kept.opened(("c1", "root"), "bash", &json!({"a": 1, "b": 2}));
        let open = kept.ended("c1").unwrap();
        assert!(open.had(&json!({"b": 2, "a": 1})));
        assert!(!open.had(&json!({"a": 1, "b": 3})));
    }

    #[test]
    fn memory_is_bounded_and_survives_nonsense() {
        let mut kept = Kept::default();
        for number in 0..200 {
            kept.opened((&format!("c{number}"), "root"), "task", &Value::Null);
            kept.agent_starts(&format!("a{number}"));
            kept.spoken(&format!("m{number}"));
            kept.asked(&format!("q{number}"), "c");
        }
        assert_eq!((kept.open.len(), kept.agents.len(), kept.asked.len()), (MOST, MOST, MOST));
        let memory = kept.into_memory();
        assert_eq!(Kept::from_memory(&memory).into_memory(), memory);
        assert_eq!(Kept::from_memory(&json!({"open": 7})), Kept::default());
        assert_eq!(Kept::default().into_memory(), Value::Null);
    }
}
