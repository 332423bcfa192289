//! Quotes, substitutions and arithmetic.

use std::mem;

use super::word::push_text;
use super::{Parsed, Parser, parse_inner};
use crate::judge::guard::{FIRST_SIGN, is_sign};
use crate::tree::{List, Piece, Word};

impl<'a> Parser<'a> {
    /// `'...'`
    pub(super) fn single_quoted(&mut self) -> Parsed<&'a str> {
        let start = self.at;
        self.advance(1);
        let inner = self.at;
        let Some(length) = self.rest().find('\'') else { return self.fail("a single quote is not closed", start) };
        self.advance(length);
        let text = self.slice(inner);
        self.advance(1);
        Ok(text)
    }

    /// The inside of `"..."` and its end.
    pub(super) fn double_quoted(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        let start = self.at;
        loop {
            match self.peek() {
                None => return self.fail("a double quote is not closed", start),
                Some(b'"') => {
                    self.advance(1);
                    return Ok(());
                }
                Some(_) => self.quoted_piece(pieces, b'"')?,
            }
        }
    }

    /// One piece where only `\`, `$` and backticks are special; `escaped` is a further character that `\` escapes.
    pub(super) fn quoted_piece(&mut self, pieces: &mut Vec<Piece>, escaped: u8) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                let next = self.peek_at(1);
                match next {
                    Some(b'\n') => self.advance(2),
                    Some(byte @ (b'$' | b'`' | b'\\')) => {
                        self.advance(2);
                        push_text(pieces, char::from(byte).encode_utf8(&mut [0; 4]), true);
                    }
                    Some(byte) if byte == escaped => {
                        self.advance(2);
                        push_text(pieces, char::from(byte).encode_utf8(&mut [0; 4]), true);
                    }
                    _ => {
                        self.advance(1);
                        push_text(pieces, "\\", true);
                    }
                }
            }
            Some(b'`') => pieces.push(self.backticks(true)?),
            Some(b'$') => self.dollar(pieces, true)?,
            _ => {
                let start = self.at;
                let special = |byte: u8| matches!(byte, b'\\' | b'`' | b'$' | b'"' | b'\'' | b'}');
                let rest = self.rest();
                let first = rest.chars().next().map_or(0, char::len_utf8);
                let found = rest.bytes().skip(first).position(special);
                self.advance(found.map_or(rest.len(), |found| found.saturating_add(first)));
                push_text(pieces, self.slice(start), true);
            }
        }
        Ok(())
    }

    /// What starts with `$`.
    pub(super) fn dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        let start = self.at;
        self.advance(1);
        self.not_continued()?;
        self.at = start;
        if self.starts("$(") {
            self.advance(2);
            self.not_continued()?;
            self.at = start;
        }
        if let (Some(b'\'' | b'"'), false) | (Some(b'['), _) = (self.peek_at(1), quoted) {
            self.bash_only(self.rest().get(..2).unwrap_or("$"), start)?;
        }
        match (self.peek_at(1), self.peek_at(2)) {
            (Some(b'\''), _) if !quoted => {
                self.advance(2);
                let text = self.ansi_quoted()?;
                push_text(pieces, &text, true);
            }
            (Some(b'"'), _) if !quoted => {
                self.advance(2);
                push_text(pieces, "", true);
                self.double_quoted(pieces)?;
            }
            (Some(b'('), Some(b'(')) => {
                self.advance(3);
                let inner = self.nested(|parser| parser.arithmetic("))"))?;
                pieces.push(Piece::Arithmetic(inner));
            }
            (Some(b'('), _) => {
                self.advance(2);
                let list = self.substitution_list()?;
                pieces.push(Piece::Command { list, quoted });
            }
            (Some(b'['), _) => {
                self.advance(2);
                let inner = self.nested(|parser| parser.arithmetic("]"))?;
                pieces.push(Piece::Arithmetic(inner));
            }
            (Some(b'{'), _) => {
                let parameter = self.nested(|parser| parser.braced_parameter(quoted))?;
                pieces.push(Piece::Parameter(Box::new(parameter)));
            }
            _ => match self.plain_parameter(quoted) {
                Some(parameter) => pieces.push(Piece::Parameter(Box::new(parameter))),
                None => {
                    self.advance(1);
                    // With a hole behind it, it is the value of what that names.
                    match self.rest().chars().next().filter(|next| is_sign(*next)) {
                        Some(sign) => self.advance(sign.len_utf8()),
                        None => {
                            push_text(pieces, "$", quoted);
                            return Ok(());
                        }
                    }
                    push_text(pieces, FIRST_SIGN.encode_utf8(&mut [0; 4]), quoted);
                }
            },
        }
        Ok(())
    }

    /// The commands of `$(...)` or `<(...)` and the closing bracket.
    pub(super) fn substitution_list(&mut self) -> Parsed<List> {
        let start = self.at;
        let outside = mem::take(&mut self.pending);
        let list = self.nested(Self::list)?;
        self.skip_blanks();
        if self.peek().is_none() {
            return self.fail("a substitution is not closed", start);
        }
        if !self.eat(")") {
            return Err(self.unexpected());
        }
        self.no_pending()?;
        if !outside.is_empty() && self.slice(start).contains('\n') {
            return self.fail("a substitution of several lines after `<<` is not read", start);
        }
        self.pending = outside;
        Ok(list)
    }

    /// `` `...` ``, whose text is parsed again without its backslashes.
    pub(super) fn backticks(&mut self, quoted: bool) -> Parsed<Piece> {
        let start = self.at;
        self.advance(1);
        let mut inner = String::new();
        loop {
            match self.next_char() {
                None => return self.fail("a backtick is not closed", start),
                Some('`') => break,
                Some('\\') => match self.next_char() {
                    None => return self.fail("a backtick is not closed", start),
                    Some(next @ ('$' | '`' | '\\')) => inner.push(next),
                    // Whether the backslash stays depends on what the quotes are inside of.
                    Some('"') if quoted => return self.fail("`\\\"` in backticks in quotes is not read", start),
                    Some('\n') => {}
                    Some(next) => {
                        inner.push('\\');
                        inner.push(next);
                    }
                },
                Some(character) => inner.push(character),
            }
        }
        if !self.pending.is_empty() && self.slice(start).contains('\n') {
            return self.fail("a substitution of several lines after `<<` is not read", start);
        }
        let base = self.span(start);
        let depth = self.depth.saturating_add(1);
        let dialect = self.dialect;
        let list = self.nested(|_| parse_inner(&inner, Some(base), depth, dialect))?;
        Ok(Piece::Command { list, quoted })
    }

    /// An arithmetic text and its end.
    pub(super) fn arithmetic(&mut self, end: &str) -> Parsed<Word> {
        let start = self.at;
        let (opener, closer) = if end == "]" { (b'[', b']') } else { (b'(', b')') };
        let mut pieces = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return self.fail("an arithmetic expression is not closed", start),
                Some(byte) if byte == closer && open == 0 => {
                    let span = self.span(start);
                    if !self.eat(end) {
                        return self.fail("what starts with `((` must be arithmetic; write `( (` for subshells", start);
                    }
                    return Ok(Word { pieces, span });
                }
                Some(byte) if byte == opener || byte == closer => {
                    open = if byte == opener { open.saturating_add(1) } else { open.saturating_sub(1) };
                    self.advance(1);
                    push_text(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]), true);
                }
                Some(b'"') => {
                    self.advance(1);
                    self.double_quoted(&mut pieces)?;
                }
                Some(b'\\' | b'`' | b'$') => self.quoted_piece(&mut pieces, b'"')?,
                Some(b'\n') if !self.pending.is_empty() => return Err(self.unexpected()),
                Some(_) => {
                    let character = self.next_char().unwrap_or(' ');
                    push_text(&mut pieces, character.encode_utf8(&mut [0; 4]), true);
                }
            }
        }
    }

    /// The inside of `$'...'` and its end, decoded.
    fn ansi_quoted(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut bytes = Vec::new();
        loop {
            match self.next_char() {
                None => return self.fail("a single quote is not closed", start),
                Some('\'') => break,
                Some('\\') => self.ansi_escape(&mut bytes, start)?,
                Some(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if bytes.contains(&0) {
            return self.fail("a quoted text holds a zero byte", start);
        }
        match String::from_utf8(bytes) {
            Ok(text) if text.contains(is_sign) => self.fail("an escape in `$'...'` is not read", start),
            Ok(text) => Ok(text),
            Err(_) => self.fail("a quoted text is not valid UTF-8", start),
        }
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>, start: usize) -> Parsed<()> {
        let Some(kind) = self.next_char() else { return self.fail("a single quote is not closed", start) };
        let simple = match kind {
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => u8::try_from(kind).ok(),
            _ => None,
        };
        if let Some(byte) = simple {
            bytes.push(byte);
            return Ok(());
        }
        match kind {
            '0'..='7' => {
                let first = kind.to_digit(8).unwrap_or(0);
                let (value, _) = self.digits(8, 2, first);
                bytes.push(u8::try_from(value & 0xff).unwrap_or(0));
            }
            'x' => match self.digits(16, 2, 0) {
                (_, 0) => return self.fail("an escape in `$'...'` is not read", start),
                (value, _) => bytes.push(u8::try_from(value).unwrap_or(0)),
            },
            'u' | 'U' => {
                let (value, found) = self.digits(16, if kind == 'u' { 4 } else { 8 }, 0);
                match char::from_u32(value) {
                    Some(character) if found > 0 => {
                        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    _ => return self.fail("an escape in `$'...'` is not read", start),
                }
            }
            'c' => return self.fail("an escape in `$'...'` is not read", start),
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize, first: u32) -> (u32, usize) {
        let mut value = first;
        let mut found = 0;
        while found < most {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.advance(1);
            found = found.saturating_add(1);
        }
        (value, found)
    }
}
