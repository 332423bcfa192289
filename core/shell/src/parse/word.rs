//! Words: runs of text, quotes and expansions up to a blank or an operator.

use super::command::is_meta;
use super::{Parsed, Parser};
use crate::judge::guard::is_sign;
use crate::tree::{Operation, Parameter, Piece, Word};

/// Appends text, with a parameter for each hole in it.
pub(super) fn push_text(pieces: &mut Vec<Piece>, text: &str, quoted: bool) {
    let mut rest = text;
    while let Some((at, sign)) = rest.char_indices().find(|(_, letter)| is_sign(*letter)) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if at > 0 {
            push_known(pieces, before, quoted);
        }
        let name = sign.to_string();
        rest = after.strip_prefix(sign).unwrap_or("");
        pieces.push(Piece::Parameter(Box::new(Parameter { name, quoted, index: None, operation: Operation::Plain })));
    }
    if !rest.is_empty() || text.is_empty() {
        push_known(pieces, rest, quoted);
    }
}

/// Appends text, joined with the text before it where both are quoted alike.
fn push_known(pieces: &mut Vec<Piece>, text: &str, quoted: bool) {
    if let Some(Piece::Text { text: last, quoted: same }) = pieces.last_mut()
        && *same == quoted
    {
        last.push_str(text);
        return;
    }
    pieces.push(Piece::Text { text: text.to_owned(), quoted });
}

impl Parser<'_> {
    /// A word that must have at least one character.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let pieces = self.pieces()?;
        if pieces.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Word { pieces, span: self.span(start) })
    }

    /// The pieces of a word, also none.
    pub(super) fn pieces(&mut self) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            if matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(') {
                self.bash_only("<(", self.at)?;
                self.advance(2);
                pieces.push(Piece::Process { list: self.substitution_list()?, output: byte == b'>' });
            } else if byte == b'(' && self.ends_with_pattern_sign(&pieces) {
                self.pattern_group(&mut pieces)?;
            } else if is_meta(byte) {
                break;
            } else {
                self.piece(&mut pieces)?;
            }
        }
        Ok(pieces)
    }

    /// One piece of unquoted text or one quoted or expanded piece.
    pub(super) fn piece(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                self.advance(1);
                match self.next_char() {
                    Some('\n') => {}
                    Some(character) => push_text(pieces, character.encode_utf8(&mut [0; 4]), true),
                    None => return Err(self.unexpected()),
                }
            }
            Some(b'\'') => {
                let text = self.single_quoted()?;
                push_text(pieces, text, true);
            }
            Some(b'"') => {
                self.advance(1);
                push_text(pieces, "", true);
                self.double_quoted(pieces)?;
            }
            Some(b'`') => pieces.push(self.backticks(false)?),
            Some(b'$') => self.dollar(pieces, false)?,
            _ => {
                let start = self.at;
                self.plain_run();
                push_text(pieces, self.slice(start), false);
            }
        }
        Ok(())
    }

    /// Consumes characters that mean themselves, at least one.
    fn plain_run(&mut self) {
        let special = |byte: u8| is_meta(byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'}');
        let rest = self.rest();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = rest.bytes().skip(first).position(special).map_or(rest.len(), |found| found.saturating_add(first));
        self.advance(length);
    }

    fn ends_with_pattern_sign(&self, pieces: &[Piece]) -> bool {
        matches!(pieces.last(), Some(Piece::Text { text, quoted: false }) if text.ends_with(['?', '*', '+', '@', '!']))
    }

    /// `@(a|b)` and its like, where the text inside is plain.
    fn pattern_group(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        let start = self.at;
        self.bash_only("@(", start)?;
        let rest = self.rest();
        let length = rest.find(')').map_or(rest.len(), |found| found.saturating_add(1));
        let group = rest.get(..length).unwrap_or("");
        let inner = group.get(1..).unwrap_or("");
        let plain = |character: char| !matches!(character, '$' | '`' | '"' | '\'' | '\\' | '<' | '>' | ';' | '&' | '(');
        if !group.ends_with(')') || !inner.chars().all(|character| plain(character) && !character.is_whitespace()) {
            return self.fail("a pattern in brackets that is not plain is not read", start);
        }
        self.advance(length);
        push_text(pieces, group, false);
        Ok(())
    }

    /// The right side of `=~`, in which brackets and `|` are ordinary.
    pub(super) fn regex(&mut self) -> Parsed<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open = open.saturating_add(1),
                b')' if open == 0 => break,
                b')' => open = open.saturating_sub(1),
                b' ' | b'\t' | b'\n' | b'<' | b'>' | b'&' | b';' if open == 0 => break,
                b'\n' | b'<' | b'>' | b'&' | b';' => return Err(self.unexpected()),
                b'|' | b' ' | b'\t' => {}
                _ => {
                    self.piece(&mut pieces)?;
                    continue;
                }
            }
            self.advance(1);
            push_text(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]), false);
        }
        if pieces.is_empty() { Err(self.unexpected()) } else { Ok(Word { pieces, span: self.span(start) }) }
    }
}
