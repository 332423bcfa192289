//! Words of a line as paths: the folders that they are seen from, and their last names.

use phasegate_shell::{Part, Pattern, Piece};

/// The folders that a part may run in, from the one that the line starts in.
pub(in crate::analysis) fn folders(part: &Part) -> Vec<Pattern> {
    if part.folders.is_empty() { vec![Pattern::default()] } else { part.folders.clone() }
}

/// A word as a path, seen from a folder whose path ends with a slash.
pub(in crate::analysis) fn within(folder: &Pattern, word: &Pattern) -> Pattern {
    let absolute = match word.0.first() {
        Some(Piece::Text(text)) => text.starts_with('/'),
        Some(Piece::Home) => true,
        _ => false,
    };
    if absolute {
        return word.clone();
    }
    folder.then(word)
}

/// What is known of the last name of a path.
pub(in crate::analysis) fn last_name(path: &Pattern) -> Pattern {
    let mut name = Vec::new();
    for piece in path.0.iter().rev() {
        if let Piece::Text(text) = piece
            && let Some((_, last)) = text.rsplit_once('/')
        {
            name.insert(0, Piece::Text(last.to_owned()));
            return Pattern(name);
        }
        name.insert(0, piece.clone());
    }
    Pattern(name)
}
