//! What a check finds.

/// A broken invariant, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The file, from the workspace's root.
    pub(super) path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) what: String,
    /// What to do about it.
    pub(super) instead: &'static str,
}
