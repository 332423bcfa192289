//! A file made from the code.

/// A file made from the code: its path from the workspace's root, and its text.
pub(crate) struct Generated {
    /// The path.
    pub(crate) path: String,
    /// The text.
    pub(crate) text: String,
}

/// A text that may stand in a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
