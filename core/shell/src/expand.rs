//! Words to fields: braces, tildes, values and splitting.

pub(crate) mod field;
pub(crate) mod sources;
mod brace;

use crate::expand::field::{Bit, Field};
use crate::scope::Scope;
use crate::tree::{Operation, Parameter, Piece, Word};

/// The longest set of letters in a file name pattern.
const MAX_PATTERN: usize = 64;

/// A word in a place where it is split and may become several words.
pub(crate) fn fields(word: &Word, scope: &Scope) -> Vec<Field> {
    let Some(words) = brace::expand(word, scope) else { return vec![Field::any(word.span)] };
    let mut found = Vec::new();
    for word in &words {
        let mut builder = Builder { fields: Vec::new(), current: None, span: word.span, globs: true };
        builder.word(word, scope, true);
        found.extend(builder.finish());
    }
    found
}

/// Whether braces make several words of a word, or another one.
pub(crate) fn has_braces(word: &Word, scope: &Scope) -> bool {
    brace::expand(word, scope).is_none_or(|words| words.len() != 1)
}

/// A word in a place where it stays one word: an assignment, a `case`.
pub(crate) fn single(word: &Word, scope: &Scope) -> Field {
    one(word, scope, false)
}

/// The target of a redirection: one word, which may be a file name pattern.
pub(crate) fn target(word: &Word, scope: &Scope) -> Field {
    one(word, scope, true)
}

fn one(word: &Word, scope: &Scope, globs: bool) -> Field {
    let mut builder = Builder { fields: Vec::new(), current: None, span: word.span, globs };
    builder.word(word, scope, false);
    let mut fields = builder.finish();
    match fields.pop() {
        Some(field) if fields.is_empty() => Field { many: false, ..field },
        Some(_) => Field { many: false, ..Field::any(word.span) },
        None => Field { bits: Vec::new(), many: false, span: word.span },
    }
}

/// Where the next sign of a file name pattern is, and how long it is.
fn next_glob(text: &str) -> Option<(usize, usize)> {
    text.char_indices().find_map(|(at, character)| match character {
        '*' | '?' | '+' | '@' | '!' if text.get(at..).is_some_and(|rest| rest.get(1..2) == Some("(")) => {
            closing(text.get(at..)?, ')').map(|end| (at, length_to(end)))
        }
        '*' if text.get(at..).is_some_and(|rest| rest.starts_with("**")) => Some((at, 2)),
        '*' | '?' => Some((at, 1)),
        '[' => bracket_end(text.get(at..)?).map(|end| (at, length_to(end))),
        _ => None,
    })
}

/// Whether an operation makes several words, or none, even in quotes: a list of names, or an operand with `$@`.
fn is_several(operation: &Operation) -> bool {
    match operation {
        Operation::Names => true,
        Operation::Default(operand)
        | Operation::Assign(operand)
        | Operation::Edit(operand)
        | Operation::Trim { word: operand, .. } => operand.pieces.iter().any(|piece| match piece {
            Piece::Parameter(inner) => {
                let all = inner.index.as_ref().and_then(Word::literal).is_some_and(|(text, _)| text == "@");
                inner.name == "@" || all || is_several(&inner.operation)
            }
            _ => false,
        }),
        _ => false,
    }
}

/// Where a bracket of a file name pattern ends, with what it may hold: a bracket as its first sign, escapes, and classes as
/// `[:alpha:]`, `[=c=]` and `[.c.]`.
pub(crate) fn bracket_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1_usize;
    at = at.saturating_add(usize::from(matches!(bytes.get(at), Some(b'!' | b'^'))));
    at = at.saturating_add(usize::from(bytes.get(at) == Some(&b']')));
    while let Some(byte) = bytes.get(at).filter(|_| at < MAX_PATTERN) {
        let class = bytes.get(at.saturating_add(1)).filter(|kind| *byte == b'[' && b":=.".contains(kind));
        let closed = class.and_then(|kind| {
            let inside = text.get(at.saturating_add(2)..)?;
            let end = inside.find(&format!("{}]", char::from(*kind)))?;
            Some(at.saturating_add(end).saturating_add(4))
        });
        match (byte, closed) {
            (b']', _) => return Some(at),
            (_, Some(behind)) => at = behind,
            (b'\\', _) => at = at.saturating_add(2),
            _ => at = at.saturating_add(1),
        }
    }
    (text.len() > MAX_PATTERN).then_some(FAR)
}

/// Where a sign that closes stands in the next letters. Farther away it is not looked for: the sign that opens counts.
fn closing(text: &str, sign: char) -> Option<usize> {
    let near = text.bytes().take(MAX_PATTERN).position(|byte| u32::from(byte) == u32::from(sign));
    near.or_else(|| (text.len() > MAX_PATTERN).then_some(FAR))
}

/// A place of the sign that closes which is not known.
const FAR: usize = usize::MAX;

/// How many letters belong to a sign that opens, where its end is known.
fn length_to(end: usize) -> usize {
    if end == FAR { 1 } else { end.saturating_add(1) }
}

struct Builder {
    fields: Vec<Field>,
    current: Option<Field>,
    span: crate::tree::Span,
    /// Whether unquoted text is a file name pattern.
    globs: bool,
}

impl Builder {
    fn finish(mut self) -> Vec<Field> {
        self.fields.extend(self.current.take());
        self.fields
    }

    fn current(&mut self) -> &mut Field {
        let span = self.span;
        self.current.get_or_insert_with(|| Field { bits: Vec::new(), many: false, span })
    }

    fn word(&mut self, word: &Word, scope: &Scope, split: bool) {
        for (number, piece) in word.pieces.iter().enumerate() {
            match piece {
                Piece::Text { text, quoted: true } => self.current().push_text(text),
                Piece::Text { text, quoted: false } => {
                    let text = if number == 0 { self.tilde(text, word.pieces.len() == 1, scope) } else { text };
                    self.unquoted(text, scope.distrusts);
                }
                Piece::Parameter(parameter) => self.parameter(parameter, scope, split),
                Piece::Command { list, quoted } => match scope.printed(list) {
                    Some(text) if *quoted || !split => self.current().push_text(&text),
                    Some(text) if !scope.splits_oddly => self.split(&text, scope.distrusts),
                    _ => self.value(Bit::Any, *quoted || !split, scope),
                },
                Piece::Process { .. } => self.current().push_text("/dev/fd/63"),
                // Whether it stands in quotes is not kept.
                Piece::Arithmetic(_) => self.value(Bit::Number, !split, scope),
            }
        }
    }

    /// Takes a leading `~` off: the home folder, also where the line says which that is.
    fn tilde<'t>(&mut self, text: &'t str, whole: bool, scope: &Scope) -> &'t str {
        let Some(rest) = text.strip_prefix('~') else { return text };
        if rest.starts_with('/') || (rest.is_empty() && whole) {
            self.current().bits.extend(scope.value("HOME"));
            return rest;
        }
        // Another user's home, or a place in the stack of folders.
        let end = rest.find('/').unwrap_or(rest.len());
        self.current().bits.push(Bit::Any);
        rest.get(end..).unwrap_or("")
    }

    /// Unquoted text of the line itself: not split, but a pattern. Names that others chose may look like options.
    fn unquoted(&mut self, text: &str, distrusts: bool) {
        let Some((mut at, mut length)) = next_glob(text).filter(|_| self.globs) else {
            self.current().push_text(text);
            return;
        };
        let field = self.current();
        field.many = true;
        let mut rest = text;
        loop {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            if !before.is_empty() {
                field.push_text(before);
            }
            let hidden = |sign: &str| sign.contains("(.") || sign.contains("|.");
            let bit = match from.get(..length) {
                _ if distrusts && field.bits.is_empty() => Bit::Any,
                // Names with folders before them.
                Some("**") => Bit::Tame,
                Some(sign) if hidden(sign) => Bit::Tree,
                _ => Bit::Glob,
            };
            if field.bits.last() != Some(&bit) {
                field.bits.push(bit);
            }
            rest = from.get(length..).unwrap_or("");
            match next_glob(rest) {
                Some(found) => (at, length) = found,
                None => break,
            }
        }
        if !rest.is_empty() {
            field.push_text(rest);
        }
    }

    /// A value that is made at run time. Where it is not known how values are split, it may be any words.
    fn value(&mut self, bit: Bit, whole: bool, scope: &Scope) {
        if !whole && scope.splits_oddly {
            return self.bit(Bit::Any, false);
        }
        self.bit(bit, whole);
    }

    fn bit(&mut self, bit: Bit, whole: bool) {
        let many = !whole && matches!(bit, Bit::Any | Bit::Given | Bit::Tame | Bit::Numbers);
        let field = self.current();
        field.bits.push(bit);
        field.many |= many;
    }

    fn parameter(&mut self, parameter: &Parameter, scope: &Scope, split: bool) {
        let whole = parameter.quoted || !split;
        let all = parameter.name == "@" || (parameter.name == "*" && !parameter.quoted);
        let elements =
            parameter.index.as_ref().and_then(Word::literal).is_some_and(|(text, _)| text == "@" || text == "*");
        if all || elements || is_several(&parameter.operation) {
            let field = self.current();
            field.bits.push(Bit::Any);
            field.many = true;
            return;
        }
        let plain = matches!(parameter.operation, Operation::Plain) && parameter.index.is_none();
        if matches!(parameter.operation, Operation::Length) {
            return self.value(Bit::Number, whole, scope);
        }
        let value = match &parameter.operation {
            _ if plain => scope.value(&parameter.name),
            Operation::Default(operand) if names_nothing(operand) && scope.is_outside(&parameter.name) => {
                vec![Bit::Given]
            }
            operation => edited(&scope.value(&parameter.name), operation)
                .filter(|_| parameter.index.is_none())
                .map_or_else(|| vec![Bit::Any], |text| vec![Bit::Text(text)]),
        };
        for bit in value {
            match bit {
                Bit::Text(text) if whole => self.current().push_text(&text),
                Bit::Text(text) if !scope.splits_oddly => self.split(&text, scope.distrusts),
                other => self.value(other, whole, scope),
            }
        }
        if whole {
            self.current();
        }
    }

    /// An unquoted value: split at blanks, and a pattern.
    fn split(&mut self, text: &str, distrusts: bool) {
        for (number, part) in text.split([' ', '\t', '\n']).enumerate() {
            if number > 0 {
                self.fields.extend(self.current.take());
            }
            if !part.is_empty() {
                self.unquoted(part, distrusts);
            }
        }
    }
}

/// What is left of a known value without a known text at one of its ends, or of a known part of it.
fn edited(value: &[Bit], operation: &Operation) -> Option<String> {
    let [Bit::Text(value)] = value else { return None };
    if !value.is_ascii() {
        return None;
    }
    match operation {
        Operation::Trim { end, word } => {
            let sign = if *end { '%' } else { '#' };
            let (text, _) = word.literal().filter(|(text, quoted)| !(*quoted && text.starts_with(sign)))?;
            let text = text.strip_prefix(sign).unwrap_or(&text);
            if text.contains(['*', '?', '[', '\\', '(', '^', '~', '#']) {
                return None;
            }
            let left = if *end { value.strip_suffix(text) } else { value.strip_prefix(text) };
            Some(left.unwrap_or(value).to_owned())
        }
        Operation::Slice(word) => {
            let (text, _) = word.literal()?;
            let (from, length) = text.split_once(':').map_or((text.as_str(), None), |(from, all)| (from, Some(all)));
            let from: usize = from.trim().parse().ok()?;
            let length = length.map(|length| length.trim().parse::<usize>()).transpose().ok()?;
            Some(value.chars().skip(from).take(length.unwrap_or(usize::MAX)).collect())
        }
        _ => None,
    }
}

/// Whether a value that the line gives where a variable has none can be no program and no text for a shell.
fn names_nothing(value: &Word) -> bool {
    value.literal().is_some_and(|(text, _)| !text.contains(|letter: char| letter.is_alphabetic()))
}
