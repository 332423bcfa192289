//! Places in a text of rules.

use std::ops::Range;

use crate::read::node::Span;

/// The place of bytes of a text.
pub(crate) fn span(text: &str, bytes: &Range<usize>) -> Span {
    let start = (0..=bytes.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Span {
        start,
        end: bytes.end.clamp(start, text.len()),
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
    }
}
