//! Redirections.

use phasegate_core::analysis::Word as EngineWord;
use phasegate_core::analysis::{Access, Verdict};

use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::output::{is_connection, is_harmless_output};
use crate::tree::{Operation, Piece, Redirection, Word};
use crate::walk::Walk;

impl Walk<'_> {
    /// Judges redirections; gives them as the engine keeps them.
    pub(crate) fn redirections(&mut self, redirections: &[Redirection]) -> Vec<(String, EngineWord)> {
        let mut found = Vec::new();
        for redirection in redirections {
            if let Some(body) = redirection.body.as_ref().and_then(|body| body.get()) {
                self.inside(body);
            }
            let writes = redirection.operator.contains('>');
            let field = if writes { self.target(&redirection.target) } else { self.single(&redirection.target) };
            if let Some(finding) = self.redirection(redirection, &field) {
                self.note(finding);
            }
            let descriptor = redirection.descriptor.as_deref().unwrap_or("");
            if let Some(name) = descriptor.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                self.unproven = true;
                self.scope.forget(name);
                if name.contains('[') {
                    let because = "an index of an array is read as arithmetic";
                    self.note(Finding::new(Verdict::Unknown, because, redirection.span));
                }
            }
            found.push((format!("{descriptor}{}", redirection.operator), field.to_word()));
        }
        found
    }

    fn redirection(&mut self, redirection: &Redirection, field: &Field) -> Option<Finding> {
        let span = redirection.target.span;
        if is_connection(field.start()) {
            return Some(Finding::new(Verdict::Send, "a path under `/dev/tcp` or `/dev/udp` opens a connection", span));
        }
        match redirection.operator {
            "<<" | "<<-" | "<<<" => None,
            "<" => {
                self.touch(field, Access::Read);
                if field.known().is_some() || self.is_ordinary_path(redirection, field) {
                    return None;
                }
                let because = "input comes from a path that is made at run time, which could open a connection";
                Some(Finding::new(Verdict::Unknown, because, span))
            }
            ">&" | "<&" if is_descriptor(field) => None,
            operator => {
                if field.known().is_some_and(is_harmless_output) {
                    return None;
                }
                let process = redirection.target.pieces.iter().any(|piece| matches!(piece, Piece::Process(_)));
                if process && redirection.target.pieces.len() == 1 {
                    return None;
                }
                self.touch(field, Access::Write);
                Some(Finding::new(Verdict::Write, format!("`{operator}` writes a file"), span))
            }
        }
    }

    /// A path that starts with known text, or that comes from outside the line.
    fn is_ordinary_path(&self, redirection: &Redirection, field: &Field) -> bool {
        let known_start = match field.bits.first() {
            Some(Bit::Plain | Bit::Home | Bit::Number) => true,
            _ => !field.start().is_empty() && !"/dev/tcp/".starts_with(&field.start().replace("//", "/")),
        };
        let outside = redirection.target.pieces.iter().all(|piece| match piece {
            Piece::Text { .. } => true,
            Piece::Parameter(parameter) => {
                matches!(parameter.operation, Operation::Plain) && self.scope.is_outside(&parameter.name)
            }
            Piece::Process(_) => true,
            Piece::Command { .. } | Piece::Arithmetic { .. } => false,
        });
        known_start || outside
    }
}

/// The redirection that the standard input comes from in the end.
fn input(redirections: &[Redirection]) -> Option<&Redirection> {
    redirections.iter().rev().find(|redirection| {
        let standard = redirection.descriptor.as_deref().is_none_or(|descriptor| descriptor.parse() == Ok(0_u32));
        let zero = redirection.descriptor.is_some() && standard;
        zero || (standard && redirection.operator.starts_with('<'))
    })
}

/// The text of the line itself that a command gets on its standard input.
pub(super) fn script(redirections: &[Redirection]) -> Option<String> {
    let input = input(redirections)?;
    let body = input.body.as_ref()?.get()?;
    body.literal().map(|(text, _)| text)
}

/// Whether redirections put local data on the standard input; `None` where they leave it alone.
pub(super) fn feeds(redirections: &[Redirection]) -> Option<bool> {
    let input = input(redirections)?;
    let text = match input.operator {
        "<<" | "<<-" => input.body.as_ref().and_then(|body| body.get()).and_then(Word::literal),
        _ => input.target.literal(),
    };
    let harmless = text.is_some_and(|(text, _)| input.operator.starts_with("<<") || text == "/dev/null" || text == "-");
    Some(!harmless)
}

/// `1`, `-`, `2-`
fn is_descriptor(field: &Field) -> bool {
    field.known().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(text);
        !text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
