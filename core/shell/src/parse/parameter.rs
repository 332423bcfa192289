//! `$x` and `${x...}`.

use super::word::push_text;
use super::{Parsed, Parser};
use crate::tree::{Operation, Parameter, Word};

impl Parser<'_> {
    /// `$x`, `$1`, `$@`: without braces.
    pub(super) fn plain_parameter(&mut self, quoted: bool) -> Option<Parameter> {
        let next = self.peek_at(1)?;
        let length = if next.is_ascii_digit() || b"@*#?-$!".contains(&next) {
            1
        } else {
            self.advance(1);
            let length = self.name_length();
            self.at = self.at.saturating_sub(1);
            length
        };
        if length == 0 {
            return None;
        }
        self.advance(1);
        let name = self.rest().get(..length).unwrap_or("").to_owned();
        self.advance(length);
        Some(Parameter { name, quoted, index: None, operation: Operation::Plain })
    }

    /// `${...}`
    pub(super) fn braced_parameter(&mut self, quoted: bool) -> Parsed<Parameter> {
        let start = self.at;
        self.advance(2);
        let length_of = self.peek() == Some(b'#') && self.peek_at(1).is_some_and(|byte| byte != b'}');
        let indirect = self.peek() == Some(b'!') && self.peek_at(1).is_some_and(|byte| byte != b'}');
        if length_of || indirect {
            self.advance(1);
        }
        let name = self.parameter_name(start)?;
        let is_name = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let index = if is_name && self.peek() == Some(b'[') { Some(self.subscript()?) } else { None };
        if index.is_some() || indirect {
            self.bash_only("${", start)?;
        }
        let operation = if length_of {
            Operation::Length
        } else if indirect {
            self.indirect(index.as_ref())?
        } else {
            self.operation(quoted, start)?
        };
        if !self.eat("}") {
            return self.fail("a `${` of an unknown form is not read", start);
        }
        Ok(Parameter { name, quoted, index, operation })
    }

    fn parameter_name(&mut self, start: usize) -> Parsed<String> {
        let rest = self.rest();
        let length = match self.peek() {
            Some(byte) if byte.is_ascii_digit() => {
                rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
            }
            Some(byte) if b"@*#?-$!".contains(&byte) => 1,
            _ => self.name_length(),
        };
        if length == 0 {
            return self.fail("a `${` of an unknown form is not read", start);
        }
        let name = rest.get(..length).unwrap_or("").to_owned();
        self.advance(length);
        Ok(name)
    }

    fn indirect(&mut self, index: Option<&Word>) -> Parsed<Operation> {
        let all = index.and_then(Word::literal).is_some_and(|(text, _)| text == "@" || text == "*");
        if all || self.eat("*") || (self.starts("@}") && self.eat("@")) {
            return Ok(Operation::Names);
        }
        if self.peek() != Some(b'}') {
            return Err(self.unexpected());
        }
        Ok(Operation::Indirect)
    }

    fn operation(&mut self, quoted: bool, start: usize) -> Parsed<Operation> {
        let colon = self.eat(":");
        match self.peek() {
            Some(b'}') if !colon => return Ok(Operation::Plain),
            Some(b'-' | b'+' | b'?') => {
                self.advance(1);
                return Ok(Operation::Default(self.operand(quoted)?));
            }
            Some(b'=') => {
                self.advance(1);
                return Ok(Operation::Assign(self.operand(quoted)?));
            }
            _ => {}
        }
        if colon {
            self.bash_only("${:", start)?;
            return Ok(Operation::Slice(self.operand(true)?));
        }
        match self.peek() {
            Some(sign @ (b'#' | b'%' | b'/' | b'^' | b',')) => {
                if !matches!(sign, b'#' | b'%') {
                    self.bash_only("${/", start)?;
                }
                self.advance(1);
                let word = self.operand(quoted)?;
                Ok(if matches!(sign, b'#' | b'%') {
                    Operation::Trim { end: sign == b'%', word }
                } else {
                    Operation::Edit(word)
                })
            }
            Some(b'@') => {
                self.bash_only("${@", start)?;
                self.advance(1);
                match self.next_char() {
                    Some('U' | 'u' | 'L' | 'E') => Ok(Operation::Edit(Word::default())),
                    Some('Q' | 'A' | 'K' | 'a' | 'k') => Ok(Operation::Names),
                    Some('P') => Ok(Operation::Indirect),
                    _ => self.fail("a `${` of an unknown form is not read", start),
                }
            }
            _ => self.fail("a `${` of an unknown form is not read", start),
        }
    }

    /// The text up to the closing `}`, which is left.
    fn operand(&mut self, quoted: bool) -> Parsed<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail("a `${` is not closed", start),
                Some(b'}') => return Ok(Word { pieces, span: self.span(start) }),
                Some(b'\n') if !self.pending.is_empty() => return Err(self.unexpected()),
                Some(b'\'') if quoted => {
                    return self.fail("a single quote in a quoted `${` is not read", start);
                }
                Some(b'"') if quoted => {
                    self.advance(1);
                    self.double_quoted(&mut pieces)?;
                }
                Some(_) if quoted => self.quoted_piece(&mut pieces, b'}')?,
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    return self.fail("a process substitution in a `${` is not read", start);
                }
                Some(byte) if super::command::is_meta(byte) => {
                    self.advance(1);
                    push_text(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]), false);
                }
                Some(_) => self.piece(&mut pieces)?,
            }
        }
    }

    /// `[...]` after a name.
    pub(super) fn subscript(&mut self) -> Parsed<Word> {
        let start = self.at;
        self.advance(1);
        let inner = self.nested(|parser| parser.arithmetic("]"))?;
        Ok(Word { pieces: inner.pieces, span: self.span(start) })
    }
}
