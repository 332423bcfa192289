//! A word as a path, from the folder the line started in.

use crate::expand::field::Field;
use crate::judgement::{Pattern, Piece};
use crate::scope::Scope;

/// The paths a word can stand for at this place in the line: one for each folder the line may be in.
pub(super) fn paths(scope: &Scope, field: &Field) -> Vec<Pattern> {
    if field.is_absolute() {
        return vec![tidy(field.to_pattern())];
    }
    scope
        .folders
        .iter()
        .map(|folder| {
            let mut bits = folder.clone();
            bits.extend(field.bits.iter().cloned());
            tidy(Field { bits, many: field.many, span: field.span }.to_pattern())
        })
        .collect()
}

/// The pattern with a dot before each file name pattern that a name begins with; `None` if there is none.
pub(super) fn dotted(path: &Pattern) -> Option<Pattern> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut any = false;
    for piece in &path.0 {
        let begins = match pieces.last() {
            None => true,
            Some(Piece::Text(text)) => text.ends_with('/'),
            Some(_) => false,
        };
        if begins && *piece == Piece::Glob {
            pieces.push(Piece::Text(".".to_owned()));
            any = true;
        }
        pieces.push(piece.clone());
    }
    any.then_some(tidy(Pattern(pieces)))
}

/// Joins adjacent texts and removes `.` and empty components.
fn tidy(pattern: Pattern) -> Pattern {
    let Pattern(mut pieces) = Pattern::joined(pattern.0);
    for (number, piece) in pieces.iter_mut().enumerate() {
        if let Piece::Text(text) = piece {
            while text.contains("//") || text.contains("/./") {
                *text = text.replace("//", "/").replace("/./", "/");
            }
            if number == 0 {
                while let Some(rest) = text.strip_prefix("./") {
                    *text = rest.to_owned();
                }
            }
        }
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Pattern(pieces)
}
