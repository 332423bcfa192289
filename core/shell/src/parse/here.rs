//! Redirections and here-documents.

use std::cell::OnceCell;
use std::mem;
use std::rc::Rc;

use super::word::push_text;
use super::{Parsed, Parser, Pending};
use crate::tree::{Redirection, Word};

/// Longer operators first.
const OPERATORS: [&str; 12] = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];

impl Parser<'_> {
    /// A redirection, if one stands here.
    pub(super) fn redirection(&mut self) -> Parsed<Option<Redirection>> {
        let start = self.at;
        let length = self.descriptor_length();
        let operator = {
            let rest = self.rest().get(length..).unwrap_or("");
            let process = rest.starts_with("<(") || rest.starts_with(">(");
            OPERATORS
                .into_iter()
                .find(|operator| rest.starts_with(operator))
                .filter(|operator| !(process && operator.len() == 1) && (length == 0 || !operator.starts_with('&')))
        };
        let Some(operator) = operator else { return Ok(None) };
        let descriptor = (length > 0).then(|| self.rest().get(..length).unwrap_or("").to_owned());
        self.advance(length.saturating_add(operator.len()));
        self.not_continued()?;
        if matches!(operator, "&>>" | "&>" | "<<<") || descriptor.as_ref().is_some_and(|name| name.starts_with('{')) {
            self.bash_only(operator, start)?;
        }
        self.skip_blanks();
        if operator == "<<" || operator == "<<-" {
            return self.here_document(operator, descriptor, start).map(Some);
        }
        let target = self.word()?;
        let number = |text: String| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if matches!(operator, ">&" | "<&") && !target.literal().is_some_and(|(text, _)| number(text)) {
            self.bash_only(operator, start)?;
        }
        Ok(Some(Redirection { operator, descriptor, target, body: None, span: self.span(start) }))
    }

    /// How many bytes from here name a descriptor, that is stand straight before `<` or `>`.
    fn descriptor_length(&self) -> usize {
        let rest = self.rest();
        let digits = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let length = if digits == 0 && rest.starts_with('{') {
            let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_[]".contains(&byte);
            let length = rest.bytes().skip(1).take_while(|byte| of_name(*byte)).count();
            let end = length.saturating_add(1);
            if length > 0 && rest.as_bytes().get(end) == Some(&b'}') { end.saturating_add(1) } else { 0 }
        } else {
            digits
        };
        let follows = rest.as_bytes().get(length).is_some_and(|byte| matches!(byte, b'<' | b'>'));
        if follows { length } else { 0 }
    }

    fn here_document(
        &mut self,
        operator: &'static str,
        descriptor: Option<String>,
        start: usize,
    ) -> Parsed<Redirection> {
        let word_start = self.at;
        let word = self.word()?;
        let Some((delimiter, quoted)) = word.literal().filter(|_| !self.slice(word_start).contains(['$', '`', '\n']))
        else {
            return self.fail("the end of a here-document is not plain text", word_start);
        };
        let body = Rc::new(OnceCell::new());
        let strip_tabs = operator == "<<-";
        let span = self.span(start);
        self.pending.push(Pending { delimiter, quoted, strip_tabs, body: Rc::clone(&body), span });
        Ok(Redirection { operator, descriptor, target: word, body: Some(body), span })
    }

    /// Every here-document that was announced has been read.
    pub(super) fn no_pending(&self) -> Parsed<()> {
        match self.pending.first() {
            None => Ok(()),
            Some(_) if self.ends_documents => Ok(()),
            Some(pending) => {
                Err(crate::judgement::Problem { what: "a here-document is not closed".to_owned(), span: pending.span })
            }
        }
    }

    /// Reads the bodies of the here-documents announced on the line that just ended.
    pub(super) fn read_bodies(&mut self) -> Parsed<()> {
        for pending in mem::take(&mut self.pending) {
            let start = self.at;
            let text = self.body_text(&pending)?;
            let span = self.span(start);
            let mut pieces = Vec::new();
            if pending.quoted {
                push_text(&mut pieces, &text, true);
            } else {
                let mut inner = Parser::new(&text, Some(span), self.depth, self.dialect);
                while inner.peek().is_some() {
                    inner.quoted_piece(&mut pieces, b'\\')?;
                }
            }
            // The cell is new and filled here only.
            let _ = pending.body.set(Word { pieces, span });
        }
        Ok(())
    }

    fn body_text(&mut self, pending: &Pending) -> Parsed<String> {
        let mut text = String::new();
        loop {
            if self.peek().is_none() {
                if self.ends_documents {
                    return Ok(text);
                }
                return Err(crate::judgement::Problem {
                    what: "a here-document is not closed".to_owned(),
                    span: pending.span,
                });
            }
            let mut line = self.raw_line(pending.quoted);
            if pending.strip_tabs {
                line = line.trim_start_matches('\t').to_owned();
            }
            if line.strip_suffix('\n').unwrap_or(&line) == pending.delimiter {
                return Ok(text);
            }
            text.push_str(&line);
        }
    }

    /// One line with its break; where `literal` is false, a backslash before the break joins the next line.
    fn raw_line(&mut self, literal: bool) -> String {
        let mut line = String::new();
        loop {
            let rest = self.rest();
            let length = rest.find('\n').map_or(rest.len(), |found| found.saturating_add(1));
            let part = rest.get(..length).unwrap_or("");
            self.advance(length);
            let body = part.strip_suffix('\n').unwrap_or(part);
            let backslashes = body.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if literal || !part.ends_with('\n') || backslashes.is_multiple_of(2) {
                line.push_str(part);
                return line;
            }
            line.push_str(body.strip_suffix('\\').unwrap_or(body));
        }
    }
}
