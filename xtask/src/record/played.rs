//! What a client made of a story, in words that no client owns.

use std::collections::BTreeMap;

/// A story that was lived through.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// What came of each call that the client heard of, by call id.
    pub(super) calls: BTreeMap<String, Outcome>,
    /// The native events that reached the guard.
    pub(super) events: Vec<String>,
}

/// What came of one call.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// What the guard said; `None` if the call never reached it.
    pub(super) said: Option<Said>,
    /// Whether the model was told that the call failed; `None` if it was told nothing.
    pub(super) error: Option<bool>,
    /// All that the model read after the call.
    pub(super) read: String,
    /// Whether the trace of the call was there when the model read on; `None` for a call that leaves none.
    pub(super) trace: Option<bool>,
}

/// What the guard said to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing that stops it, with the text for the model.
    Go(String),
    /// No, with the reason.
    Stop(String),
    /// A person must say, with the reason.
    Ask(String),
}
