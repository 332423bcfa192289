//! What is remembered between the frames of a session: which requests are open, so that answers find theirs.

use std::collections::BTreeMap;

use phasegate_adapter::Memory;
use serde::{Deserialize, Serialize};

/// The most requests and tasks that are remembered; then the ones with the smallest ids are forgotten.
const MOST: usize = 256;

/// A request whose answer means something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    /// A call of this tool.
    Call(String),
    /// The list of tools.
    List,
    /// The state or the result of a task.
    Task(String),
}

/// What is open in a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pairing {
    /// Whether the session's start was told.
    pub(crate) started: bool,
    /// Requests by `SERVER:ID`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) asked: BTreeMap<String, Asked>,
    /// Calls that go on as tasks, by `SERVER:TASK`: the call's id and its tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tasks: BTreeMap<String, (String, String)>,
}

impl Pairing {
    /// Takes up what was remembered. What cannot be read is forgotten: then answers prove nothing.
    pub(crate) fn from_memory(memory: &Memory) -> Self {
        Self::deserialize(memory).unwrap_or_default()
    }

    /// What is to be remembered.
    pub(crate) fn into_memory(mut self) -> Memory {
        while self.asked.len() > MOST {
            self.asked.pop_first();
        }
        while self.tasks.len() > MOST {
            self.tasks.pop_first();
        }
        if self == Self::default() { Memory::Null } else { serde_json::to_value(self).unwrap_or_default() }
    }
}
