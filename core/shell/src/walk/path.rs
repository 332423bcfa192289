//! A word as a path, from the folder the line started in.

use crate::field::{Bit, Field};
use crate::judgement::{Pattern, Piece};
use crate::scope::Scope;

/// The paths a word can stand for at this place in the line: one for each folder the line may be in.
pub(super) fn paths(scope: &Scope, field: &Field) -> Vec<Pattern> {
    let absolute = matches!(field.bits.first(), Some(Bit::Home)) || field.start().starts_with('/');
    if absolute {
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

/// Joins adjacent texts and removes `.` and empty components.
fn tidy(pattern: Pattern) -> Pattern {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in pattern.0 {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => pieces.push(piece),
        }
    }
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
