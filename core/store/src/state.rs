//! The state that a journal keeps: any value that changes can be applied to.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A state that a journal keeps. Every record changes it; a snapshot is the whole of it.
pub trait JournalState: Clone + Default + Serialize + DeserializeOwned {
    /// One change of the state.
    type Change: Serialize + DeserializeOwned;

    /// Makes the change. A change that does not fit the state has no effect.
    fn apply(&mut self, change: &Self::Change);
}
