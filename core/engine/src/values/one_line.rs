//! Texts of an agent as a person reads them: on one line, with nothing hidden.

use crate::prelude::*;

/// The text with what moves, hides or ends a line written as an escape: control characters, and those of Unicode that turn
/// the direction of writing or show nothing.
pub fn one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a character moves, hides or ends a line where it is printed.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn what_forges_a_line_is_escaped() {
        assert_eq!(one_line("a\n  b. c\u{1b}[2K\u{202e}d\u{200b}"), "a\\n  b. c\\u{1b}[2K\\u{202e}d\\u{200b}");
        assert_eq!(one_line("naïve — plan: 日本"), "naïve — plan: 日本");
    }
}
