//! The state that a journal keeps: any value that changes can be applied to.

use phasegate_formats::journal::JOURNAL_VERSION;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A state that a journal keeps. Every record changes it; a snapshot is the whole of it.
pub trait JournalState: Clone + Default + Serialize + DeserializeOwned {
    /// One change of the state.
    type Change: Serialize + DeserializeOwned;

    /// Makes the change. A change that does not fit the state has no effect.
    fn apply(&mut self, change: &Self::Change);

    /// Reads a state that an older version of the format wrote.
    ///
    /// # Errors
    ///
    /// It is not in the form of that version.
    fn read_older(version: u32, state: Value) -> serde_json::Result<Self> {
        debug_assert!(version < JOURNAL_VERSION, "the current version is read as it is");
        serde_json::from_value(state)
    }
}
