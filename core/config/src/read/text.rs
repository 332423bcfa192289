//! The part of a file that holds the config, and the places in it.

use saphyr_parser::Marker;

use crate::read::node::Span;

/// A stretch of a file that is read as one document.
pub(crate) struct Text<'a> {
    body: &'a str,
    /// Byte offset of each character of the body, and of its end.
    offsets: Vec<usize>,
    /// Bytes of the file before the body.
    before: usize,
    /// Lines of the file before the body.
    lines_before: usize,
}

impl<'a> Text<'a> {
    /// A whole file. A byte order mark is no part of it.
    pub(crate) fn whole(file: &'a str) -> Self {
        let body = file.strip_prefix('\u{feff}').unwrap_or(file);
        Self::part(body, file.len() - body.len(), 0)
    }

    /// The body, which `before` bytes in `lines_before` lines precede.
    pub(crate) fn part(body: &'a str, before: usize, lines_before: usize) -> Self {
        let offsets = body.char_indices().map(|(at, _)| at).chain([body.len()]).collect();
        Self { body, offsets, before, lines_before }
    }

    /// What is read.
    pub(crate) fn body(&self) -> &'a str {
        self.body
    }

    /// The place of the first byte.
    pub(crate) fn start(&self) -> Span {
        Span { start: self.before, end: self.before, line: self.lines_before + 1, column: 1 }
    }

    /// A stretch of the body as a place in the file.
    pub(crate) fn span(&self, start: &Marker, end: &Marker) -> Span {
        Span {
            start: self.byte(start),
            end: self.byte(end).max(self.byte(start)),
            line: start.line() + self.lines_before,
            column: start.col() + 1,
        }
    }

    fn byte(&self, marker: &Marker) -> usize {
        self.before + self.offsets.get(marker.index()).copied().unwrap_or(self.body.len())
    }
}
