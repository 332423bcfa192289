//! What an action of `find` can reach: the names that the tests before it ask for.

use crate::expand::bracket_end;
use phasegate_core::analysis::Access;

use crate::field::{Bit, Field};
use crate::walk::Walk;

/// The names that the tests before an action ask for.
#[derive(Default)]
pub(super) struct Bounds {
    names: Vec<Field>,
    /// Whether the tests are more than one after another, so that they bound nothing.
    open: bool,
}

impl Bounds {
    /// Takes note of an operator.
    pub(super) fn operator(&mut self, word: &str) {
        self.open |= matches!(word, "(" | "!" | "-not" | "-o" | "-or" | ",");
    }

    /// Takes note of a test with its value.
    pub(super) fn test(&mut self, word: &str, value: &Field) {
        if matches!(word, "-name" | "-iname") {
            self.names.push(pattern(value));
        }
    }

    /// Takes note of what an action does: to files with such a name below the start, or to all of it.
    pub(super) fn touch(&self, walk: &mut Walk<'_>, starts: &[&Field], access: Access) {
        let here = Field::text(".", (0, 0));
        let starts = if starts.is_empty() { &[&here] } else { starts };
        for start in starts {
            let Some(name) = self.names.first().filter(|_| !self.open) else {
                walk.touch(start, access);
                if access == Access::Write {
                    walk.touch(&below(start), access);
                }
                continue;
            };
            let last = start.known().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
            if last.is_some_and(|last| name.to_pattern().could_be(last, None)) {
                walk.touch(start, access);
            }
            for mut found in [(*start).clone(), below(start)] {
                found.push_text("/");
                found.bits.extend(name.bits.iter().cloned());
                walk.touch(&found, access);
            }
        }
    }
}

/// A pattern of names as a word: the wildcards of `find` and of git stand for any text.
pub(crate) fn pattern(value: &Field) -> Field {
    let Some(text) = value.known() else { return value.clone() };
    let mut bits = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[', '\\']) {
        let (before, wild) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if !before.is_empty() {
            bits.push(Bit::Text(before.to_owned()));
        }
        bits.push(Bit::Tree);
        let end =
            if wild.starts_with('[') { bracket_end(wild).map_or(wild.len(), |end| end.saturating_add(1)) } else { 1 };
        let end = if wild.starts_with('\\') { 1 + wild.chars().nth(1).map_or(0, char::len_utf8) } else { end };
        rest = wild.get(end..).unwrap_or("");
    }
    if !rest.is_empty() {
        bits.push(Bit::Text(rest.to_owned()));
    }
    Field { bits, many: false, span: value.span }
}

/// What lies below a folder, at any depth.
pub(crate) fn below(folder: &Field) -> Field {
    let mut below = Field { many: false, ..folder.clone() };
    below.push_text("/");
    below.bits.push(Bit::Tree);
    below
}
