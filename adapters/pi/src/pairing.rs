//! What is remembered between the messages of a session: which calls were put to us and have not ended, with a digest of
//! what they were, and whether the session has begun.

use phasegate_adapter::{Memory, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The most calls that are remembered; the oldest is forgotten first.
const MOST: usize = 64;

/// The open calls of a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pairing {
    /// Whether a start of this session was seen.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    begun: bool,
    /// The open calls, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

/// A call that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    id: String,
    /// A digest of tool and arguments.
    digest: String,
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

    /// The session begins or goes on, with no call open. Answers whether it had begun before.
    pub(crate) fn starts(&mut self) -> bool {
        self.open.clear();
        std::mem::replace(&mut self.begun, true)
    }

    /// A call is about to run.
    pub(crate) fn opened(&mut self, id: &str, tool: &str, input: &Value) {
        self.open.retain(|open| open.id != id);
        self.open.push(Open { id: id.to_owned(), digest: digest(tool, input) });
        let surplus = self.open.len().saturating_sub(MOST);
        self.open.drain(..surplus);
    }

    /// A call ran with these arguments. Answers whether they are those that were put to us.
    pub(crate) fn ran(&mut self, id: &str, tool: &str, input: &Value) -> bool {
        let digest = digest(tool, input);
        self.over(id).is_some_and(|open| open.digest == digest)
    }

    /// A call is over. Answers whether it was open.
    pub(crate) fn ended(&mut self, id: &str) -> bool {
        self.over(id).is_some()
    }

    fn over(&mut self, id: &str) -> Option<Open> {
        let place = self.open.iter().position(|open| open.id == id)?;
        Some(self.open.remove(place))
    }

    /// All calls are over.
    pub(crate) fn all_ended(&mut self) {
        self.open.clear();
    }
}

/// The same for the same tool and arguments, whatever the order of their keys.
fn digest(tool: &str, input: &Value) -> String {
    let mut hasher = Sha256::new();
    hasher.update(tool.as_bytes());
    hasher.update([0]);
    hasher.update(text::sorted(input).to_string().as_bytes());
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MOST, Pairing};

    #[test]
    fn a_call_ran_as_it_was_put_or_not() {
        let mut pairing = Pairing::default();
        for id in ["a", "b", "c"] {
            pairing.opened(id, "bash", &json!({"command": "x", "timeout": 1}));
        }
        assert!(pairing.ran("a", "bash", &json!({"timeout": 1, "command": "x"})));
        assert!(!pairing.ran("a", "bash", &json!({"timeout": 1, "command": "x"})), "once only");
        assert!(!pairing.ran("b", "bash", &json!({"command": "y"})));
        assert!(pairing.ended("c") && !pairing.ended("c"));
    }

    #[test]
    fn memory_is_bounded_and_survives_nonsense() {
        let mut pairing = Pairing::default();
        assert!(!pairing.starts() && pairing.starts());
        for number in 0..200 {
            pairing.opened(&format!("c{number}"), "bash", &Value::Null);
        }
        assert_eq!(pairing.open.len(), MOST);
        let memory = pairing.into_memory();
        assert_eq!(Pairing::from_memory(&memory).into_memory(), memory);
        assert_eq!(Pairing::from_memory(&json!({"open": 7})), Pairing::default());
        assert_eq!(Pairing::default().into_memory(), Value::Null);
    }
}
