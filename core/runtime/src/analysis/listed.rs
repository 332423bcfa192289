//! Names that a line lists in one place and changes in another: `for f in .*`, `ls -A | xargs rm`.

use phasegate_core::analysis::{Access, Guarded};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Touch};

use super::guarded::{Place, change};
use super::rough::patterns;

/// What hands on to another command what a list prints.
const HANDS_ON: [&str; 8] = ["xargs", "parallel", "read ", "mapfile", "readarray", "$(", "`", "select "];
/// Programs that list what a folder holds, and their options with which they list hidden names too, by letter and by name.
const LISTS: [(&str, &str, &[&str]); 8] = [
    ("du", "a", &["--all"]),
    ("ls", "aAf", &["--all", "--almost-all"]),
    ("dir", "aAf", &["--all", "--almost-all"]),
    ("vdir", "aAf", &["--all", "--almost-all"]),
    ("gls", "aAf", &["--all", "--almost-all"]),
    ("tree", "a", &[]),
    ("fd", "Hu", &["--hidden", "--unrestricted"]),
    ("rg", ".u", &["--hidden", "--unrestricted"]),
];
/// The most patterns of a line that are held against what it changes.
const MOST: usize = 32;

impl Place<'_> {
    /// By the patterns of a line that changes something it does not name: a variable, or what it got from a list, may be
    /// what they stand for.
    pub(super) fn listed(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let changed = judged.touches.iter().filter(|touch| change(touch.access).is_some());
        let open: Vec<_> = changed.filter(|touch| touch.path.0.last() == Some(&Piece::Any)).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let mut named = patterns(&unquoted(line));
        named.truncate(MOST);
        if HANDS_ON.iter().any(|word| line.contains(word)) {
            named.extend(judged.parts.iter().filter(|part| lists_hidden(part)).map(|_| hidden()));
        }
        let held = |touch: &Touch| {
            let paths = named.iter().map(|names| in_place_of_any(&touch.path, names));
            // All of a path may be one of the names: `for f in .*/*; do rm $f`.
            let whole = named.iter().filter(|names| may_be_whole(&touch.path, names)).cloned();
            paths.chain(whole).filter_map(|path| self.may_touch(&path, touch.access)).collect::<Vec<_>>()
        };
        open.into_iter().flat_map(held).collect()
    }

    /// A path of which a name is known in part, held against what exists.
    pub(super) fn half_named(&self, path: &Pattern, access: Access) -> Option<Guarded> {
        let named = as_names(path)?;
        // A value may be empty, so that the name begins with what stands behind it.
        let without = Pattern::joined(named.0.iter().filter(|piece| **piece != Piece::Glob).cloned());
        let found = self.may_touch(&named, access).or_else(|| self.may_touch(&without, access));
        found.map(|found| Guarded { path: super::guarded::shown(path), ..found })
    }
}

/// Every hidden name of the folder.
fn hidden() -> Pattern {
    Pattern(vec![Piece::Text(".".to_owned()), Piece::Glob])
}

fn lists_hidden(part: &Part) -> bool {
    let words: Vec<String> = part.words.iter().filter_map(Pattern::text).collect();
    let Some((program, rest)) = words.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    // They always do.
    if name == "compgen" || (name == "git" && rest.first().is_some_and(|word| word == "status")) {
        return true;
    }
    let Some((_, letters, names)) = LISTS.iter().find(|(lists, ..)| *lists == name) else { return false };
    rest.iter().any(|word| match word.strip_prefix('-') {
        Some(_) if word.starts_with("--") => names.iter().any(|name| name.starts_with(word.as_str())),
        Some(given) => given.contains(|letter| letters.contains(letter)),
        None => false,
    })
}

/// The path with these names where it ends with anything; the names themselves where they say the whole path.
fn in_place_of_any(path: &Pattern, names: &Pattern) -> Pattern {
    let whole = match names.0.first() {
        Some(Piece::Text(text)) => text.starts_with('/'),
        Some(Piece::Home) => true,
        _ => false,
    };
    let before = path.0.len().saturating_sub(1);
    let start = path.0.iter().take(if whole { 0 } else { before }).cloned();
    Pattern::joined(start.chain(names.0.iter().cloned()))
}

/// Whether what is known of the beginning of a path is the beginning of the names.
fn may_be_whole(path: &Pattern, names: &Pattern) -> bool {
    match (path.0.first(), names.0.first()) {
        (Some(Piece::Text(start)), Some(Piece::Text(names))) => path.0.len() > 2 && names.starts_with(start.as_str()),
        _ => false,
    }
}

/// A path with names that are known in part as a pattern of names; `None` where all of a name may be anything, or nothing is
/// open.
fn as_names(path: &Pattern) -> Option<Pattern> {
    let mut open = false;
    for (at, piece) in path.0.iter().enumerate() {
        if *piece != Piece::Any {
            continue;
        }
        open = true;
        let text = |at: Option<usize>| match at.and_then(|at| path.0.get(at)) {
            Some(Piece::Text(text)) => text.as_str(),
            _ => "",
        };
        let before = text(at.checked_sub(1)).rsplit('/').next().unwrap_or_default();
        let after = text(at.checked_add(1)).split('/').next().unwrap_or_default();
        if before.is_empty() && after.is_empty() {
            return None;
        }
    }
    let piece = |piece: &Piece| if *piece == Piece::Any { Piece::Glob } else { piece.clone() };
    open.then(|| Pattern(path.0.iter().map(piece).collect()))
}

/// The line without what stands in quotes, where a pattern is none.
fn unquoted(line: &str) -> String {
    let (mut out, mut quote) = (String::new(), None);
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (None, '\'' | '"') => quote = Some(sign),
            (None, '\\') => {
                signs.next();
            }
            (None, sign) => out.push(sign),
            (Some(open), sign) if open == sign => quote = None,
            (Some('"'), '\\') => {
                signs.next();
            }
            (Some(_), _) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_known_in_part_is_a_pattern_of_names() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let half = as_names(&Pattern(vec![text("a/."), Piece::Any, text("gate/x")]));
        assert_eq!(half, Some(Pattern(vec![text("a/."), Piece::Glob, text("gate/x")])));
        assert_eq!(as_names(&Pattern(vec![text("target/"), Piece::Any])), None, "all of the name is open");
        assert_eq!(as_names(&Pattern(vec![Piece::Any])), None);
        assert_eq!(as_names(&Pattern(vec![text("a")])), None);
    }

    #[test]
    fn patterns_in_quotes_are_none() {
        assert_eq!(unquoted("for f in .* 'a*' \"b*\" \\*; do"), "for f in .*   ; do");
    }
}
