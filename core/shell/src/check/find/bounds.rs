//! What an action of `find` can reach: the names that the tests before it ask for.

use crate::expand::bracket_end;
use phasegate_core::calls::analysis::Access;

use crate::expand::field::{Bit, Field};
use crate::walk::Walk;

/// The tests read so far, as alternatives of which each may ask for names.
#[derive(Default)]
pub(super) struct Bounds {
    done: Vec<Vec<Field>>,
    current: Vec<Field>,
    depth: usize,
    negated: bool,
    /// Whether a group is negated, so that nothing in it bounds anything.
    open: bool,
}

impl Bounds {
    /// Takes note of an operator.
    pub(super) fn operator(&mut self, word: &str) {
        match word {
            "(" => {
                self.depth = self.depth.saturating_add(1);
                self.open |= std::mem::take(&mut self.negated);
            }
            ")" => self.depth = self.depth.saturating_sub(1),
            "!" | "-not" => self.negated = true,
            // An action belongs to the last alternative outside of groups.
            "-o" | "-or" | "," if self.depth == 0 => {
                self.done.clear();
                self.current.clear();
            }
            "-o" | "-or" | "," => self.done.push(std::mem::take(&mut self.current)),
            _ => self.negated = false,
        }
    }

    /// Takes note of a test with its value.
    pub(super) fn test(&mut self, word: &str, value: &Field) {
        if !std::mem::take(&mut self.negated) && matches!(word, "-name" | "-iname") {
            self.current.push(pattern(value));
        }
    }

    /// Takes note of what an action does: to files with those names below the start, or to all of it.
    pub(super) fn touch(&self, walk: &mut Walk<'_>, starts: &[&Field], access: Access) {
        let here = Field::text(".", (0, 0));
        let starts = if starts.is_empty() { &[&here] } else { starts };
        let alternatives = || self.done.iter().chain([&self.current]);
        let bounded = !self.open && alternatives().all(|names| !names.is_empty());
        for start in starts {
            if !bounded {
                walk.touch(start, access);
                if access == Access::Write {
                    walk.touch(&below(start), access);
                }
                continue;
            }
            for name in alternatives().flatten() {
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
