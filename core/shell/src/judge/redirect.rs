//! Redirections.

use phasegate_core::calls::analysis::Word as EngineWord;
use phasegate_core::calls::analysis::{Access, Verdict};

use crate::expand;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::output::{is_connection, is_harmless_output};
use crate::scope::Scope;
use crate::tree::{Operation, Piece, Redirection, Word};
use crate::walk::Walk;

/// The steps of one redirection.
const REDIRECTION_STEPS: usize = 48;

impl Walk<'_> {
    /// Judges redirections; gives them as the engine keeps them.
    pub(crate) fn redirections(&mut self, redirections: &[Redirection]) -> Vec<(String, EngineWord)> {
        let mut found = Vec::new();
        for redirection in redirections {
            if !self.spend(REDIRECTION_STEPS, redirection.span) {
                break;
            }
            if let Some(body) = redirection.body.as_ref().and_then(|body| body.get()) {
                self.inside(body);
            }
            let opens = redirection.operator.contains('>') || redirection.operator == "<";
            let field = if opens { self.target(&redirection.target) } else { self.single(&redirection.target) };
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
                if is_output(redirection) || number(redirection).is_none_or(|number| number >= PROCESSES) {
                    self.touch(field, Access::Write);
                    return Some(Finding::new(Verdict::Unknown, REOPENED, span));
                }
                if field.known().is_some() || self.is_ordinary_path(redirection, field) {
                    return None;
                }
                let because = "input comes from a path that is made at run time, which could open a connection";
                Some(Finding::new(Verdict::Unknown, because, span))
            }
            ">&" | "<&" if is_descriptor(field) => {
                let unsafe_source = self.is_opened_to_read(redirection, field);
                if unsafe_source {
                    self.touch(&Field::text("/dev/stdin", span), Access::Write);
                }
                unsafe_source.then(|| Finding::new(Verdict::Unknown, REOPENED, span))
            }
            operator => {
                self.outputs.extend(number(redirection).filter(|number| *number > 2));
                if field.known().is_some_and(is_harmless_output) {
                    return None;
                }
                let process = redirection.target.pieces.iter().any(|piece| matches!(piece, Piece::Process { .. }));
                if process && redirection.target.pieces.len() == 1 {
                    return None;
                }
                self.touch(field, Access::Write);
                Some(Finding::new(Verdict::Write, format!("`{operator}` writes a file"), span))
            }
        }
    }

    /// Whether the standard output or error becomes a copy of a descriptor that may be open to read a file.
    fn is_opened_to_read(&mut self, redirection: &Redirection, field: &Field) -> bool {
        let source = field.known().and_then(|text| text.trim_end_matches('-').parse::<u32>().ok());
        let Some(source) = source else { return false };
        let from_output = matches!(source, 1 | 2) || self.outputs.contains(&source);
        match number(redirection) {
            Some(own) if own > 2 && from_output => {
                self.outputs.insert(own);
                false
            }
            _ => is_output(redirection) && !from_output,
        }
    }

    /// A path that starts with known text, or that comes from outside the line.
    fn is_ordinary_path(&self, redirection: &Redirection, field: &Field) -> bool {
        let known_start = match field.bits.first() {
            Some(Bit::Plain | Bit::Home | Bit::Here) => !ends_as_connection(field.bits.get(1..).unwrap_or(&[])),
            Some(Bit::Number) => true,
            _ => !field.start().is_empty() && !"/dev/tcp/".starts_with(&field.start().replace("//", "/")),
        };
        let outside = redirection.target.pieces.iter().all(|piece| match piece {
            // After a tilde stands a folder that is not known.
            Piece::Text { text, quoted } => *quoted || !text.starts_with('~'),
            Piece::Parameter(parameter) => {
                matches!(parameter.operation, Operation::Plain) && self.scope.is_outside(&parameter.name)
            }
            Piece::Process { .. } => true,
            Piece::Command { .. } | Piece::Arithmetic { .. } => false,
        });
        known_start || outside
    }
}

/// Whether what follows the path of a folder makes it a connection, where that folder is `/dev`.
fn ends_as_connection(rest: &[Bit]) -> bool {
    match rest {
        [] => false,
        [Bit::Text(text), more @ ..] => {
            let text = text.trim_start_matches('/');
            let begins = |place: &&str| text.starts_with(*place) || (!more.is_empty() && place.starts_with(text));
            ["tcp/", "udp/"].iter().any(begins)
        }
        _ => true,
    }
}

/// Why a descriptor for output that is open to read is no harmless place: Linux opens the file behind it anew.
const REOPENED: &str = "output would be opened to read a file, which `/dev/stdout` and `/dev/stderr` would then write";

/// From here on bash may give a descriptor to a process substitution, which output may go to.
const PROCESSES: u32 = 10;

/// The descriptor that is redirected, where its number is known.
fn number(redirection: &Redirection) -> Option<u32> {
    match &redirection.descriptor {
        Some(descriptor) => descriptor.parse().ok(),
        None => Some(u32::from(!redirection.operator.starts_with('<'))),
    }
}

/// Whether the standard output or error is redirected.
fn is_output(redirection: &Redirection) -> bool {
    matches!(number(redirection), Some(1 | 2))
}

/// The redirection that the standard input comes from in the end.
fn input(redirections: &[Redirection]) -> Option<&Redirection> {
    redirections.get(input_place(redirections)?)
}

/// Its number.
fn input_place(redirections: &[Redirection]) -> Option<usize> {
    redirections.iter().rposition(|redirection| {
        let standard = redirection.descriptor.as_deref().is_none_or(|descriptor| descriptor.parse() == Ok(0_u32));
        let zero = redirection.descriptor.is_some() && standard;
        zero || (standard && redirection.operator.starts_with('<'))
    })
}

/// The text of the line that a command gets on its standard input.
pub(super) fn said(redirections: &[Redirection], scope: &Scope) -> Option<Field> {
    text(input(redirections)?, scope)
}

/// The texts of the line that it puts on other descriptors.
pub(super) fn said_elsewhere(redirections: &[Redirection], scope: &Scope) -> Vec<Field> {
    let own = input_place(redirections);
    let others = redirections.iter().enumerate().filter(|(at, _)| Some(*at) != own);
    others.filter_map(|(_, redirection)| text(redirection, scope)).collect()
}

fn text(redirection: &Redirection, scope: &Scope) -> Option<Field> {
    let word = if redirection.operator == "<<<" { &redirection.target } else { redirection.body.as_ref()?.get()? };
    Some(expand::single(word, scope))
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
