//! What is wrong with a fault report.

/// A fault, with its place.
pub(super) struct Finding {
    /// The file, from the workspace's root.
    pub(super) path: String,
    /// What is wrong.
    pub(super) what: String,
    /// What to do about it.
    pub(super) instead: &'static str,
}
