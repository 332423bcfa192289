//! Arithmetic: the values of variables are read as expressions there, and an index in one can run a command.

use phasegate_core::calls::analysis::Verdict;

use crate::expand::field::Field;
use crate::finding::Finding;
use crate::tree::{Operation, Piece, Word};
use crate::walk::Walk;

impl Walk<'_> {
    /// Judges an arithmetic expression: only numbers, signs and variables that are integers are known to run nothing.
    pub(crate) fn arithmetic(&mut self, word: &Word) {
        self.inside(word);
        let plain = |sign: char| sign.is_ascii_digit() || " \t\n+-*/%<>=!&|^~?:,();".contains(sign);
        for piece in &word.pieces {
            let doubt = match piece {
                Piece::Text { text, .. } => text.chars().find(|sign| !plain(*sign)).map(|sign| format!("`{sign}`")),
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

    /// What is doubtful about a variable's value where an integer is wanted.
    pub(crate) fn unless_number(&self, name: &str) -> Option<String> {
        let field = Field { bits: self.scope.value(name), many: false, span: (0, 0) };
        (!field.is_number()).then(|| format!("the value of `{name}`"))
    }
}
