//! What a half of the state keeps of what happened, for conditions of rules (rules 4.10).

use alloc::string::String;
use alloc::sync::Arc;

use phasegate_history::{History, Observation};
use serde::{Deserialize, Serialize};

/// What is kept of what happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventHistory {
    /// How many parts of calls changed files of the project, while a rule asked for what happened.
    pub changes: u64,
    /// What the conditions keep.
    pub conditions: Arc<History>,
}

impl EventHistory {
    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes == 0 && self.conditions.is_empty()
    }

    /// Takes events in. `known`: the conditions that rules have; what is kept for others is forgotten.
    pub(crate) fn take_in(&mut self, seen: &[Observation], changes: Option<u64>, known: Option<&[String]>) {
        let conditions = Arc::make_mut(&mut self.conditions);
        if let Some(known) = known {
            conditions.retain(known);
        }
        seen.iter().for_each(|event| conditions.apply(event));
        self.changes = self.changes.saturating_add(changes.unwrap_or_default());
    }
}
