//! `{a,b}` and `{1..3}`.

use crate::scope::Scope;
use crate::tree::{Piece, Word};

/// How many words one word may become.
const MOST: usize = 256;
/// How deep braces may stand in braces, and one pair behind another.
const MAX_DEPTH: usize = 16;

/// The words that braces make of a word; `None` where they are too many, or hold more than unquoted text.
pub(super) fn expand(word: &Word, scope: &Scope) -> Option<Vec<Word>> {
    let unquoted = |piece: &Piece| match piece {
        Piece::Text { text, quoted: false } => Some(text.clone()),
        _ => None,
    };
    let several = word.pieces.len() > 1 && word.pieces.iter().filter_map(unquoted).any(|text| may_choose(&text));
    let mut all: Vec<Vec<Piece>> = vec![Vec::new()];
    for piece in &word.pieces {
        let texts = match unquoted(piece).filter(|text| text.contains('{')) {
            // What closes it may stand in another piece.
            Some(text) if several && text.matches('{').count() != text.matches('}').count() => return None,
            Some(text) => texts(&text, 0, scope)?,
            None => {
                all.iter_mut().for_each(|pieces| pieces.push(piece.clone()));
                continue;
            }
        };
        if all.len().saturating_mul(texts.len()) > MOST {
            return None;
        }
        let with = |text: &String| Piece::Text { text: text.clone(), quoted: false };
        let longer = |pieces: &Vec<Piece>| -> Vec<Vec<Piece>> {
            texts.iter().map(|text| pieces.iter().cloned().chain([with(text)]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Some(all.into_iter().map(|pieces| Word { pieces, span: word.span }).collect())
}

/// Whether a text has a sign that makes braces around it a choice.
fn may_choose(text: &str) -> bool {
    text.contains(',') || text.contains("..")
}

/// The texts that braces make of one.
fn texts(text: &str, depth: usize, scope: &Scope) -> Option<Vec<String>> {
    if depth > MAX_DEPTH || !scope.spend(text.len()) {
        return None;
    }
    for (at, _) in text.match_indices('{') {
        let (before, from) = text.split_at_checked(at)?;
        scope.spend(from.len());
        let Some(group) = Group::at(from) else { continue };
        let mut choices = Vec::new();
        match group.members.as_slice() {
            [only] if !only.contains("..") => continue,
            [only] => choices.extend(sequence(only)?),
            members => {
                for member in members {
                    choices.extend(texts(member, depth.saturating_add(1), scope)?);
                }
            }
        }
        let behind = texts(group.behind, depth.saturating_add(1), scope)?;
        if choices.len().saturating_mul(behind.len()) > MOST {
            return None;
        }
        let joined = |choice: &String| behind.iter().map(|rest| [before, choice, rest].concat()).collect::<Vec<_>>();
        let all: Vec<String> = choices.iter().flat_map(joined).collect();
        // What becomes of each word is more work.
        return scope.spend(all.iter().map(|text| text.len().saturating_add(8)).sum()).then_some(all);
    }
    Some(vec![text.to_owned()])
}

/// What stands in braces.
struct Group<'t> {
    /// The texts between its commas.
    members: Vec<&'t str>,
    behind: &'t str,
}

impl<'t> Group<'t> {
    /// The group that a text begins with.
    fn at(text: &'t str) -> Option<Self> {
        let (mut open, mut start, mut members) = (0_usize, 1, Vec::new());
        for (at, sign) in text.char_indices() {
            let ends = open == 1 && matches!(sign, ',' | '}');
            if ends {
                members.push(text.get(start..at)?);
                start = at.saturating_add(1);
            }
            match sign {
                '}' if ends => return Some(Self { members, behind: text.get(start..)? }),
                '{' => open = open.saturating_add(1),
                '}' => open = open.saturating_sub(1),
                _ => {}
            }
        }
        None
    }
}

/// `1..3`, `a..c`; `None` where it is neither.
fn sequence(inner: &str) -> Option<Vec<String>> {
    let (first, last) = inner.split_once("..")?;
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let letter = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        let all = (first.min(last)..=first.max(last)).map(String::from).collect();
        return Some(in_order(all, first > last));
    }
    let (first, last) = (number(first)?, number(last)?);
    let all =
        (first.min(last)..=first.max(last)).take(MOST.saturating_add(1)).map(|number| number.to_string()).collect();
    Some(in_order(all, first > last))
}

fn in_order(mut all: Vec<String>, down: bool) -> Vec<String> {
    if down {
        all.reverse();
    }
    all
}
