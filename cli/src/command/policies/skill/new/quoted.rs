//! Texts in a config.

/// A text as it may stand between quotation marks.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "").replace('"', "'")
}
