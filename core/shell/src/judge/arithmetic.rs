//! Arithmetic: the values of variables are read as expressions there, and an index in one can run a command.

use phasegate_core::analysis::Verdict;

use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::tree::{Operation, Piece, Word};
use crate::variables::is_dangerous;
use crate::walk::Walk;

impl Walk<'_> {
    /// Judges an arithmetic expression.
    pub(crate) fn arithmetic(&mut self, word: &Word) {
        self.inside(word);
        for piece in &word.pieces {
            let doubt = match piece {
                Piece::Text { text, .. } => self.arithmetic_text(text),
                Piece::Arithmetic(_) => None,
                Piece::Command { .. } => Some("what a command prints".to_owned()),
                Piece::Process { .. } => Some("a process substitution".to_owned()),
                Piece::Parameter(parameter) => match parameter.operation {
                    Operation::Length => None,
                    Operation::Plain if parameter.index.is_none() => self.unless_number(&parameter.name),
                    _ => Some(format!("the value of `{}`", parameter.name)),
                },
            };
            if let Some(doubt) = doubt {
                let because = format!("{doubt} is read as arithmetic, which can run commands");
                self.note(Finding::new(Verdict::Unknown, because, word.span));
            }
        }
    }

    fn arithmetic_text(&mut self, text: &str) -> Option<String> {
        if let Some(odd) = text.chars().find(|character| {
            !(character.is_ascii_alphanumeric() || " \t\n_+-*/%<>=!&|^~?:,();#@.[]".contains(*character))
        }) {
            return Some(format!("`{odd}`"));
        }
        let mut rest = text;
        while let Some(start) = rest.find(|character: char| character.is_ascii_alphanumeric() || character == '_') {
            let from = rest.get(start..).unwrap_or("");
            let end = from
                .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_' || character == '#'))
                .unwrap_or(from.len());
            let (token, after) = from.split_at_checked(end).unwrap_or((from, ""));
            rest = after;
            if token.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            let after = after.trim_start();
            if after.starts_with('=') && !after.starts_with("==") {
                if is_dangerous(token) || token == "IFS" {
                    return Some(format!("`{token}`"));
                }
                self.scope.assign(token, vec![Bit::Number]);
                continue;
            }
            if after.starts_with('[') {
                return Some(format!("an element of `{token}`"));
            }
            if let Some(doubt) = self.unless_number(token) {
                return Some(doubt);
            }
        }
        None
    }

    /// What is doubtful about a variable's value where an integer is wanted.
    pub(crate) fn unless_number(&self, name: &str) -> Option<String> {
        let field = Field { bits: self.scope.value(name), many: false, span: (0, 0) };
        (!field.is_number()).then(|| format!("the value of `{name}`"))
    }
}
