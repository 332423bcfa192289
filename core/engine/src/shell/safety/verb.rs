//! Words that change things.

use super::lists::is_changing;
use crate::calls::analysis::Word;
use crate::prelude::*;

/// What divides a word into parts.
const SIGNS: [char; 8] = ['-', '_', ':', '/', '.', '+', ',', '='];
/// Options that say yes to what a program would ask about.
const YES: [&str; 4] = ["yes", "y", "force", "assume-yes"];
/// Options whose value is the name of a file to write, or a format.
const OUTPUTS: [&str; 6] = ["output", "o", "out", "outfile", "output-file", "out-file"];
/// Options whose value is what is done.
const METHODS: [&str; 3] = ["method", "request", "X"];
/// Formats of output.
const FORMATS: [&str; 19] = [
    "json", "jsonl", "ndjson", "yaml", "yml", "yamlc", "jsonc", "text", "txt", "table", "tsv", "csv", "wide", "name",
    "none", "plain", "markdown", "md", "id",
];

/// Whether a word may be a verb that changes things: it is one of the list, or has one as a part (`batch-delete`,
/// `apps:destroy`, `deleteMessage`, `--delete`). A word with a blank in it is a text.
pub fn changes(word: &str) -> bool {
    if word.contains(char::is_whitespace) {
        return false;
    }
    let Some(option) = word.strip_prefix('-') else {
        return word.split(SIGNS).any(part_changes);
    };
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let name = name.trim_start_matches('-');
    // Of an option the name counts, and not its value, unless it says what is done, or where something is put.
    name.split(SIGNS).any(part_changes)
        || YES.contains(&name)
        || value.is_some_and(|value| value_changes(name, value))
        || (!option.starts_with('-') && letter_changes(option))
}

/// Whether a word and the one before it change things together: `--output a.txt`.
pub(crate) fn pair_changes(before: &str, word: &str) -> bool {
    let name = before.trim_start_matches('-');
    before.starts_with('-') && !word.starts_with('-') && value_changes(name, word)
}

/// Whether the value of an option says that something is done: an output that is no format, a method, a file that is sent.
fn value_changes(name: &str, value: &str) -> bool {
    let format = || FORMATS.contains(&value) || value.contains(['{', '(', '%', ',']);
    (OUTPUTS.contains(&name) && !format()) || (METHODS.contains(&name) && part_changes(value)) || value.starts_with('@')
}

/// Whether a short option has a method for its value: `-XDELETE`.
fn letter_changes(option: &str) -> bool {
    option.strip_prefix('X').is_some_and(|value| !value.is_empty() && is_changing(&value.to_ascii_lowercase()))
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
    words.iter().filter_map(Word::known).find(|text| changes(text))
}
