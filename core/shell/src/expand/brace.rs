//! `{a,b}` and `{1..3}`.

use std::ops::Range;

use crate::scope::Scope;
use crate::tree::{Piece, Word};

/// How many words one word may become.
const MOST: usize = 256;
/// The words that braces make of a word; `None` where they are too many.
pub(super) fn expand(word: &Word, scope: &Scope) -> Option<Vec<Word>> {
    let has = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains('{'));
    if !word.pieces.iter().any(has) {
        return Some(vec![word.clone()]);
    }
    let units = units(word);
    let mut words = Vec::new();
    for units in alternatives(&units, 0, scope)? {
        words.push(Word { pieces: rebuild(units), span: word.span });
    }
    Some(words)
}

#[derive(Clone)]
enum Unit {
    Character(char, bool),
    Whole(Piece),
}

fn units(word: &Word) -> Vec<Unit> {
    let mut units = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text { text, quoted } if !text.is_empty() => {
                units.extend(text.chars().map(|character| Unit::Character(character, *quoted)));
            }
            other => units.push(Unit::Whole(other.clone())),
        }
    }
    units
}

fn rebuild(units: Vec<Unit>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for unit in units {
        match unit {
            Unit::Whole(piece) => pieces.push(piece),
            Unit::Character(character, quoted) => match pieces.last_mut() {
                Some(Piece::Text { text, quoted: same }) if *same == quoted => text.push(character),
                _ => pieces.push(Piece::Text { text: character.to_string(), quoted }),
            },
        }
    }
    pieces
}

fn plain(unit: Option<&Unit>) -> Option<char> {
    match unit {
        Some(Unit::Character(character, false)) => Some(*character),
        _ => None,
    }
}

fn alternatives(units: &[Unit], depth: usize, scope: &Scope) -> Option<Vec<Vec<Unit>>> {
    if depth > 16 || !scope.spend(units.len()) {
        return None;
    }
    for (at, _) in units.iter().enumerate().filter(|(_, unit)| plain(Some(unit)) == Some('{')) {
        let found = group(units, at);
        let end = found.as_ref().map_or(units.len(), |(end, _)| *end);
        if !scope.spend(end.saturating_sub(at)) {
            return None;
        }
        let Some((end, commas)) = found else { continue };
        let inner = units.get(at.saturating_add(1)..end).unwrap_or(&[]);
        let choices = if commas.is_empty() {
            sequence(inner)
        } else {
            members(units, &commas, at.saturating_add(1)..end, depth, scope)?
        };
        let Some(choices) = choices else { continue };
        let before = units.get(..at).unwrap_or(&[]);
        let after = alternatives(units.get(end.saturating_add(1)..).unwrap_or(&[]), depth.saturating_add(1), scope)?;
        if choices.len().saturating_mul(after.len()) > MOST {
            return None;
        }
        let mut found = Vec::new();
        for choice in &choices {
            for rest in &after {
                if !scope.spend(at.saturating_add(choice.len()).saturating_add(rest.len())) {
                    return None;
                }
                // What becomes of the word is another step for each.
                scope.spend(8);
                found.push([before, choice, rest].concat());
            }
        }
        return Some(found);
    }
    Some(vec![units.to_vec()])
}

/// The end of the group that opens at `at`, and its commas.
fn group(units: &[Unit], at: usize) -> Option<(usize, Vec<usize>)> {
    let mut open = 0_usize;
    let mut commas = Vec::new();
    for (place, unit) in units.iter().enumerate().skip(at) {
        match plain(Some(unit)) {
            Some('{') => open = open.saturating_add(1),
            Some('}') if open == 1 => return Some((place, commas)),
            Some('}') => open = open.saturating_sub(1),
            Some(',') if open == 1 => commas.push(place),
            _ => {}
        }
    }
    None
}

/// What each text between commas, within a part of the word, can become.
fn members(
    units: &[Unit],
    commas: &[usize],
    inside: Range<usize>,
    depth: usize,
    scope: &Scope,
) -> Option<Option<Vec<Vec<Unit>>>> {
    let mut choices = Vec::new();
    let mut start = inside.start;
    for stop in commas.iter().copied().chain([inside.end]) {
        choices.extend(alternatives(units.get(start..stop).unwrap_or(&[]), depth.saturating_add(1), scope)?);
        start = stop.saturating_add(1);
        if choices.len() > MOST {
            return None;
        }
    }
    Some(Some(choices))
}

/// `1..3`, `a..c`, `1..9..2`.
fn sequence(inner: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let text: String = inner.iter().map(|unit| plain(Some(unit))).collect::<Option<String>>()?;
    let mut parts = text.split("..");
    let (first, last) = (parts.next()?, parts.next()?);
    let step = parts.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    if parts.next().is_some() {
        return None;
    }
    let single = |text: &str| text.chars().next().filter(|first| text.len() == 1 && first.is_ascii_alphabetic());
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        return Some(range(first, last, step)?.into_iter().map(|value| quoted(&value.to_string())).collect());
    }
    let (first, last) = (single(first)?, single(last)?);
    let values = range(i64::from(u32::from(first)), i64::from(u32::from(last)), step)?;
    let character = |value: i64| u32::try_from(value).ok().and_then(char::from_u32);
    Some(values.into_iter().filter_map(character).map(|value| vec![Unit::Character(value, false)]).collect())
}

fn quoted(text: &str) -> Vec<Unit> {
    text.chars().map(|character| Unit::Character(character, false)).collect()
}

fn range(first: i64, last: i64, step: u64) -> Option<Vec<i64>> {
    let step = i64::try_from(step).ok()?;
    let count = last.abs_diff(first);
    if count > 1024 {
        // Abridged: every value is an integer, and two of them suffice.
        return Some(vec![first, last]);
    }
    let mut values = vec![first];
    let mut value = first;
    loop {
        value = if last >= first { value.checked_add(step)? } else { value.checked_sub(step)? };
        if (last >= first && value > last) || (last < first && value < last) {
            return Some(values);
        }
        values.push(value);
        if values.len() > MOST {
            return Some(vec![first, last]);
        }
    }
}
