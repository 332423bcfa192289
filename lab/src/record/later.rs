//! What a story's user does beside the first prompt: later processes of the client, and keys typed into a terminal.

use serde::Deserialize;

/// A later process of the client.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Later {
    /// What the user types.
    pub(crate) prompt: String,
    /// Which session it goes on with.
    pub(crate) session: Which,
}

/// Which session a later process goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    /// The last one.
    Continued,
    /// A fork of the last one.
    Forked,
    /// None: a new one.
    New,
}

/// A line that is typed into a terminal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Typed {
    /// What must be on the screen first, since the line before; spaces do not count.
    pub(crate) sees: String,
    /// The line; its end is typed after it.
    pub(crate) types: String,
    /// How long the user thinks before, in milliseconds.
    #[serde(default)]
    pub(crate) after_ms: u64,
}
