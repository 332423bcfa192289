//! What a text means to a shell that reads it as a part of a line.

/// Whether a text is one word for every shell, also where it is read as a part of a line.
pub(crate) fn is_one_word(text: &str) -> bool {
    !text.contains(|letter: char| letter.is_whitespace() || "*?[]{}()<>;&|$`'\"\\#!".contains(letter))
}
