//! Texts: what they say, and the values in f-strings.

use super::{Parser, odd, parse_value};
use crate::python::doubt::Doubt;
use crate::python::token::{Quoted, Token};
use crate::python::tree::{Expr, Kind};

impl Parser {
    /// Texts one after another are one text.
    pub(super) fn literal(&mut self) -> Result<Expr, Doubt> {
        let mut whole = Some(String::new());
        let (mut parts, mut bytes, mut formatted, mut first) = (Vec::new(), false, false, true);
        while let Token::Quoted(quoted) = self.peek() {
            let quoted = quoted.clone();
            self.skip();
            if !first && bytes != quoted.bytes {
                return Err(odd());
            }
            (first, bytes) = (false, quoted.bytes);
            if quoted.formatted {
                formatted = true;
                parts.push(Expr::new(Kind::Text(whole.replace(String::new())))?);
                self.format(&quoted, &mut parts)?;
            } else {
                whole = whole.and_then(|text| Some(text + said(&quoted.body, quoted.raw)?.as_str()));
            }
        }
        if bytes {
            return Expr::new(Kind::Constant);
        }
        if !formatted {
            return Expr::new(Kind::Text(whole));
        }
        parts.push(Expr::new(Kind::Text(whole))?);
        parts.retain(|part| !matches!(&part.kind, Kind::Text(Some(text)) if text.is_empty()));
        Expr::new(Kind::Formatted(parts))
    }

    fn format(&mut self, quoted: &Quoted, parts: &mut Vec<Expr>) -> Result<(), Doubt> {
        if quoted.body.contains("\\{") || quoted.body.contains("\\}") || quoted.body.contains("\\N") {
            return Err(odd());
        }
        let mut text = String::new();
        let mut rest = quoted.body.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(rest.get(..at).unwrap_or(""));
            rest = rest.get(at..).unwrap_or("");
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                text.push_str(rest.get(..1).unwrap_or(""));
                rest = after;
                continue;
            }
            parts.push(Expr::new(Kind::Text(said(&std::mem::take(&mut text), quoted.raw)))?);
            let value = rest.strip_prefix('{').ok_or_else(odd)?;
            rest = self.replacement(quoted, value, true, parts)?;
        }
        text.push_str(rest);
        parts.push(Expr::new(Kind::Text(said(&text, quoted.raw)))?);
        Ok(())
    }

    /// A value in braces, from behind the first brace; gives what follows the last.
    fn replacement<'q>(
        &mut self,
        quoted: &Quoted,
        text: &'q str,
        outer: bool,
        parts: &mut Vec<Expr>,
    ) -> Result<&'q str, Doubt> {
        let end = value_end(text).ok_or_else(odd)?;
        let value = text.get(..end).unwrap_or("");
        let line = value.contains('\n') && !quoted.triple;
        if line || value.trim().is_empty() || value.contains(['\\', '#', quoted.quote]) {
            return Err(odd());
        }
        parts.push(parse_value(value, self.depth.saturating_add(1))?);
        let mut rest = text.get(end..).unwrap_or("");
        if let Some(after) = rest.strip_prefix('=') {
            // The text of the value is shown too.
            parts.push(Expr::new(Kind::Text(None))?);
            rest = after.trim_start_matches(' ');
        }
        if let Some(after) = rest.strip_prefix('!') {
            rest = after.strip_prefix(['r', 's', 'a']).ok_or_else(odd)?;
        }
        if let Some(after) = rest.strip_prefix(':') {
            rest = after;
            while let Some(at) = rest.find(['{', '}']) {
                let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
                parts.push(Expr::new(Kind::Text(said(before, quoted.raw)))?);
                rest = after;
                match after.strip_prefix('{') {
                    Some(inner) if outer => rest = self.replacement(quoted, inner, false, parts)?,
                    Some(_) => return Err(odd()),
                    None => break,
                }
            }
        }
        rest.strip_prefix('}').ok_or_else(odd)
    }
}

/// Where the value of a replacement ends: at `}`, `:`, `!` or `=` outside of brackets and texts.
fn value_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut quote, mut at) = (0_usize, None, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at.saturating_add(1));
        match (*byte, quote) {
            (byte, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'\'' | b'"', None) => {
                // Three quotes are not read here.
                if bytes.get(at..at.saturating_add(3)).is_some_and(|three| three.iter().all(|other| other == byte)) {
                    return None;
                }
                quote = Some(*byte);
            }
            (b'(' | b'[' | b'{', None) => depth = depth.saturating_add(1),
            (b'}', None) if depth == 0 => return Some(at),
            (b')' | b']' | b'}', None) => depth = depth.checked_sub(1)?,
            (b'!' | b'=' | b'<' | b'>', None) if depth == 0 && next == Some(&b'=') => at = at.saturating_add(1),
            (b'!' | b':' | b'=', None) if depth == 0 => return Some(at),
            _ => {}
        }
        at = at.saturating_add(1);
    }
    None
}

/// What a text says, where its escapes are common ones.
fn said(body: &str, raw: bool) -> Option<String> {
    if raw || !body.contains('\\') {
        return Some(body.to_owned());
    }
    let mut text = String::new();
    let mut letters = body.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        text.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            quoted @ ('\\' | '\'' | '"') => quoted,
            _ => return None,
        });
    }
    Some(text)
}
