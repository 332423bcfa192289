//! Paths that are known only in part, held against places.

use phasegate_shell::{Pattern, Piece};

use super::protected_path::fold;

/// Whether the pattern can stand for the name, where a pattern of names stands for no name that begins with a dot unless
/// it says so, as shells have it.
pub(crate) fn stands_for(path: &Pattern, name: &str, home: &str) -> bool {
    let name = name.as_bytes();
    let mut reached = vec![false; name.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for piece in &path.0 {
        let text = match piece {
            Piece::Text(text) => Some(fold(text)),
            Piece::Home => Some(home.to_string()),
            Piece::Any | Piece::Tree | Piece::Glob => None,
        };
        let mut next = vec![false; reached.len()];
        for at in reached.iter().enumerate().filter_map(|(at, here)| here.then_some(at)) {
            let rest = name.get(at..).unwrap_or_default();
            let ends = match &text {
                Some(text) => {
                    if rest.starts_with(text.as_bytes()) {
                        text.len()..=text.len()
                    } else {
                        continue;
                    }
                }
                None if *piece != Piece::Glob => 0..=rest.len(),
                // The dot before a hidden name has to be the pattern's first letter, not one behind an empty star.
                None if begins_hidden(at.checked_sub(1).and_then(|before| name.get(before)), rest) => continue,
                None => 0..=names_end(rest),
            };
            next.iter_mut().skip(at + ends.start()).take(ends.end() - ends.start() + 1).for_each(|end| *end = true);
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// Whether a hidden name begins here.
fn begins_hidden(before: Option<&u8>, rest: &[u8]) -> bool {
    before.is_none_or(|byte| *byte == b'/') && rest.first() == Some(&b'.')
}

/// How far a pattern of names reaches into a text: to the next slash.
fn names_end(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len())
}
