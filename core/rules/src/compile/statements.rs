//! Where the rules of a text stand, and whether they are small enough to be read.

use core::ops::Range;
use std::string::String;
use std::vec::Vec;

/// The most rules of one text.
const MAX_RULES: usize = 1000;
/// How deep brackets may nest. Cedar's reader calls itself for each.
const MAX_DEPTH: usize = 32;
/// How many names may follow each other, with dots between them.
const MAX_NAMES: usize = 32;
/// How many operators one rule may have. Conditions that are joined nest, too.
const MAX_OPERATORS: usize = 256;

/// The bytes of each rule, in order: from its first annotation to its semicolon.
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = None;
    for (at, letter) in plain(text) {
        if letter != ';' {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            places.push(start..at.saturating_add(1));
        }
    }
    places
}

/// What is too large to be read, with its place: found before anything is read, as Cedar's reader overflows the stack.
pub(super) fn too_large(text: &str) -> Option<(String, Range<usize>)> {
    let (mut rules, mut start, mut depth, mut names, mut operators) = (0_usize, 0, 0_usize, 0_usize, 0_usize);
    let mut before = ' ';
    for (at, letter) in plain(text) {
        match letter {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '.' => names = names.saturating_add(1),
            '&' | '|' if before == letter => operators = operators.saturating_add(1),
            '+' | '-' | '*' | '!' => operators = operators.saturating_add(1),
            'f' if before == 'i' => operators = operators.saturating_add(1),
            ';' => {
                (rules, start, depth, operators) = (rules.saturating_add(1), at.saturating_add(1), 0, 0);
            }
            _ => {}
        }
        if !letter.is_alphanumeric() && !matches!(letter, '.' | '_' | ')' | ']' | '(' | '"') {
            names = 0;
        }
        before = letter;
        let bounds = [
            (rules, MAX_RULES, "rules in one file"),
            (depth, MAX_DEPTH, "brackets in each other"),
            (names, MAX_NAMES, "names with dots between them"),
            (operators, MAX_OPERATORS, "operators in one rule"),
        ];
        if let Some((_, most, what)) = bounds.into_iter().find(|(found, most, _)| found > most) {
            return Some((std::format!("more than {most} {what}"), start..at.saturating_add(letter.len_utf8())));
        }
    }
    None
}

/// The letters that are no blanks, outside of comments; of a text in quotes, the first sign.
fn plain(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut letters = text.char_indices().peekable();
    core::iter::from_fn(move || {
        loop {
            let (at, letter) = letters.next()?;
            match letter {
                '/' if letters.peek().is_some_and(|(_, next)| *next == '/') => {
                    letters.by_ref().find(|(_, letter)| *letter == '\n');
                }
                letter if letter.is_whitespace() => {}
                '"' => {
                    let mut escaped = false;
                    letters.by_ref().find(|(_, letter)| {
                        let ends = *letter == '"' && !escaped;
                        escaped = *letter == '\\' && !escaped;
                        ends
                    });
                    return Some((at, letter));
                }
                _ => return Some((at, letter)),
            }
        }
    })
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

    #[test]
    fn what_overflows_the_stack_is_not_read() {
        let rule = |condition: &str| std::format!("permit(principal, action, resource) when {{ {condition} }};");
        for (sign, end) in [("(", ")"), ("[", "]"), ("{a: ", "}"), ("if true then ", " else true"), ("true && ", "")] {
            let nested = |times: usize| rule(&[&sign.repeat(times), "true", &end.repeat(times)].concat());
            assert_eq!(too_large(&nested(20)), None, "{sign}");
            assert!(too_large(&nested(800)).is_some(), "{sign}");
        }
        assert!(too_large(&rule(&["context", &".a".repeat(800)].concat())).is_some());
        assert!(too_large(&rule("true").repeat(1001)).is_some());
        let quoted = rule(&std::format!("context.a == \"{}\" // {}\n", "(".repeat(99), "[".repeat(99)));
        assert_eq!(too_large(&quoted.repeat(1000)), None);
    }
}
