//! Where the rules of a text stand.

use core::ops::Range;
use std::vec::Vec;

/// The bytes of each rule, in order: from its first annotation to its semicolon.
#[must_use]
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '/' if letters.peek().is_some_and(|(_, next)| *next == '/') => {
                letters.by_ref().find(|(_, letter)| *letter == '\n');
                continue;
            }
            letter if letter.is_whitespace() => continue,
            '"' => {
                let mut escaped = false;
                letters.by_ref().find(|(_, letter)| {
                    let ends = *letter == '"' && !escaped;
                    escaped = *letter == '\\' && !escaped;
                    ends
                });
            }
            ';' => {
                if let Some(start) = start.take() {
                    places.push(start..at + 1);
                }
                continue;
            }
            _ => {}
        }
        start.get_or_insert(at);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_texts_and_comments_end_no_rule() {
        let text =
            "// a; b\n@id(\"x;\\\"\") permit(principal, action, resource); // ;\nforbid(principal, action, resource);";
        let found: Vec<_> = places(text).into_iter().filter_map(|place| text.get(place)).collect();
        assert_eq!(
            found,
            ["@id(\"x;\\\"\") permit(principal, action, resource);", "forbid(principal, action, resource);"]
        );
    }
}
