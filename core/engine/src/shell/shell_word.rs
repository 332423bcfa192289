//! Words of a shell line, in quotes.

use crate::prelude::*;

/// A word in quotes: the shell takes it as it is.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A word as a person pastes it into a shell: in quotes, where the shell would take it otherwise.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { quoted(word) }
}
