//! What is remembered between the messages of a session: which calls are open, so that later messages that do not name
//! their call can be tied to it.

use phasegate_adapter::Memory;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The most calls that are remembered; the oldest is forgotten first.
const MOST: usize = 64;

/// The open calls of a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pairing {
    /// The open calls, oldest first.
    open: Vec<Open>,
    /// Subagents that began and could not be tied to one call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loose: Vec<String>,
}

/// A call that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    id: String,
    /// The subagent that called; empty for the main agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    by: String,
    /// A digest of tool and arguments.
    digest: String,
    /// Whether the call can start a subagent and has not been seen to.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    starter: bool,
}

/// A call as it is remembered.
pub(crate) struct Opened<'a> {
    pub(crate) id: &'a str,
    pub(crate) by: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
}

impl Pairing {
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

    /// A call is about to run.
    pub(crate) fn opened(&mut self, call: &Opened<'_>) {
        self.open.retain(|open| open.id != call.id);
        self.open.push(Open {
            id: call.id.to_owned(),
            by: call.by.to_owned(),
            digest: digest(call.tool, call.input),
            // A skill that runs as a subagent looks like any other before it runs.
            starter: matches!(call.tool, "Agent" | "Task" | "Skill"),
        });
        let surplus = self.open.len().saturating_sub(MOST);
        self.open.drain(..surplus);
    }

    /// A call ended; `started` is the subagent that it says it ran.
    pub(crate) fn ended(&mut self, id: Option<&str>, started: Option<&str>) {
        self.open.retain(|open| Some(open.id.as_str()) != id);
        self.loose.retain(|agent| Some(agent.as_str()) != started);
        self.settle();
    }

    /// All calls of an agent (empty: the main agent) are over.
    pub(crate) fn all_ended(&mut self, by: &str) {
        self.open.retain(|open| open.by != by);
        self.settle();
    }

    /// A subagent begins. Answers the call that started it, if only one can have.
    pub(crate) fn subagent(&mut self, agent: &str) -> Option<String> {
        let mut starters = self.open.iter_mut().filter(|open| open.starter);
        match (starters.next(), starters.next()) {
            (Some(one), None) if self.loose.is_empty() => {
                one.starter = false;
                Some(one.id.clone())
            }
            _ => {
                self.loose.push(agent.to_owned());
                let surplus = self.loose.len().saturating_sub(MOST);
                self.loose.drain(..surplus);
                self.settle();
                None
            }
        }
    }

    /// The newest open call of an agent with this tool and these arguments.
    pub(crate) fn like(&self, by: &str, tool: &str, input: &Value) -> Option<String> {
        let digest = digest(tool, input);
        self.open.iter().rev().find(|open| open.by == by && open.digest == digest).map(|open| open.id.clone())
    }

    /// With no call left that may have started them, subagents that could not be tied make nothing uncertain any more.
    fn settle(&mut self) {
        if !self.open.iter().any(|open| open.starter) {
            self.loose.clear();
        }
    }
}

/// The same for the same tool and arguments, whatever the order of their keys.
fn digest(tool: &str, input: &Value) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tool.as_bytes());
    hasher.update([0]);
    hasher.update(phasegate_adapter::text::sorted(input).to_string().as_bytes());
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MOST, Opened, Pairing};

    fn open(pairing: &mut Pairing, id: &str, by: &str, tool: &str) {
        pairing.opened(&Opened { id, by, tool, input: &json!({"a": 1, "b": 2}) });
    }

    #[test]
    fn one_open_call_is_tied_to_its_subagent() {
        let mut pairing = Pairing::default();
        open(&mut pairing, "c0", "", "Bash");
        open(&mut pairing, "c1", "", "Agent");
        assert_eq!(pairing.subagent("a1").as_deref(), Some("c1"));
        open(&mut pairing, "c2", "a1", "Agent");
        assert_eq!(pairing.subagent("a2").as_deref(), Some("c2"));
        assert_eq!(pairing.subagent("a3"), None);
    }

    #[test]
    fn two_open_calls_tie_nothing_until_it_is_clear_again() {
        let mut pairing = Pairing::default();
        open(&mut pairing, "c1", "", "Agent");
        open(&mut pairing, "c2", "", "Agent");
        assert_eq!(pairing.subagent("a1"), None);
        pairing.ended(Some("c2"), Some("a2"));
        assert_eq!(pairing.subagent("a2"), None, "c1 may have started a1 or a2");
        pairing.all_ended("");
        assert_eq!(pairing, Pairing::default());
        open(&mut pairing, "c3", "", "Agent");
        assert_eq!(pairing.subagent("a3").as_deref(), Some("c3"));
    }

    #[test]
    fn equal_calls_are_found_newest_first() {
        let mut pairing = Pairing::default();
        open(&mut pairing, "c1", "", "Bash");
        open(&mut pairing, "c2", "", "Bash");
        open(&mut pairing, "c3", "a1", "Bash");
        assert_eq!(pairing.like("", "Bash", &json!({"b": 2, "a": 1})).as_deref(), Some("c2"));
        assert_eq!(pairing.like("", "Edit", &json!({"b": 2, "a": 1})), None);
    }

    #[test]
    fn memory_is_bounded_and_survives_nonsense() {
        let mut pairing = Pairing::default();
        for number in 0..200 {
            open(&mut pairing, &format!("c{number}"), "", "Agent");
            pairing.subagent(&format!("a{number}"));
        }
        assert_eq!((pairing.open.len(), pairing.loose.len() <= MOST), (MOST, true));
        let memory = pairing.into_memory();
        assert_eq!(Pairing::from_memory(&memory).into_memory(), memory);
        assert_eq!(Pairing::from_memory(&json!({"open": 7})), Pairing::default());
        assert_eq!(Pairing::default().into_memory(), Value::Null);
    }
}
