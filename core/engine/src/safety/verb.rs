//! Words that change things.

use alloc::string::String;

use super::lists::is_changing;
use crate::analysis::Word;

/// Whether a word may be a verb that changes things: it is one of the list, or has one as a part (`batch-delete`,
/// `apps:destroy`, `deleteMessage`, `--delete`). A word with a blank in it is a text.
#[must_use]
pub fn changes(word: &str) -> bool {
    if word.contains(char::is_whitespace) {
        return false;
    }
    let option = word.starts_with('-');
    // Of an option the name counts, and not its value.
    let name = if option { word.split('=').next().unwrap_or_default() } else { word };
    name.split(['-', '_', ':', '/', '.', '+', ',', '=']).any(part_changes)
}

/// Whether a part of a word is a verb, or begins with one as camel case writes it.
fn part_changes(part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    let mut camel = String::new();
    for (at, letter) in part.char_indices() {
        let capital = letter.is_uppercase();
        let after_small = part.get(..at).and_then(|before| before.chars().next_back()).is_some_and(char::is_lowercase);
        if capital && after_small {
            if is_changing(&camel) {
                return true;
            }
            camel.clear();
        }
        camel.extend(letter.to_lowercase());
    }
    is_changing(&camel)
}

/// The first of these words that changes things.
pub(crate) fn changing(words: &[Word]) -> Option<&str> {
    words.iter().find_map(|word| match word {
        Word::Known(text) => Some(text.as_str()).filter(|text| changes(text)),
        Word::Unknown | Word::Value => None,
    })
}
