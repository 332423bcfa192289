//! What a client made of a story, in words that no client owns.

use std::collections::BTreeMap;

/// The outcome of a played story.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// What came of each call that the client heard of, by call id.
    pub(crate) calls: BTreeMap<String, Outcome>,
    /// The native events that reached the guard.
    pub(crate) events: Vec<String>,
    /// Whether the model was asked anything of the story.
    pub(crate) asked: bool,
    /// What the client ended with, as the user sees it.
    pub(crate) last_word: String,
}

/// What came of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// What the guard said; `None` if the call never reached it.
    pub(crate) said: Option<Said>,
    /// Whether the model read that the call failed; `None` if it read nothing.
    pub(crate) error: Option<bool>,
    /// All that the model read after the call.
    pub(crate) read: String,
    /// Whether the trace of the call was there when the model read on; `None` for a call that leaves none.
    pub(crate) trace: Option<bool>,
}

/// What the guard said to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing that stops it, with the text for the model.
    Go(String),
    /// No, with the reason.
    Stop(String),
    /// A person must say, with the reason.
    Ask(String),
}
