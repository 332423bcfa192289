//! Assignments: which are worse than reading, and which values the walk follows.

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::check::run::program_text;
use crate::expand::field::{Bit, Field, any};
use crate::finding::Finding;
use crate::judge::made_lines::is_stream;
use crate::scope::WORD_STEPS;
use crate::script::Script;
use crate::tree::{Assignment, Piece, Span, Value, Word};
use crate::variables::{PAGERS, is_dangerous, is_evaluated, is_harmless};
use crate::walk::Walk;

impl Walk<'_> {
    /// An assignment: its value, and what is worse than reading.
    pub(crate) fn assignment(&mut self, assignment: &Assignment, alone: bool) -> Field {
        if let Some(index) = &assignment.index {
            self.arithmetic(index);
        }
        let field = match &assignment.value {
            Value::Scalar(word) => self.single(word),
            Value::Array(words) => {
                for word in words {
                    if !self.spend(WORD_STEPS, assignment.span) {
                        break;
                    }
                    let start = self.parts().len();
                    let fields = self.fields(word);
                    self.tell_of_list(&assignment.name, &fields, start);
                    self.element_index(word);
                }
                Field { many: false, ..Field::any(assignment.span) }
            }
        };
        self.tell_git_place(&assignment.name, &field, assignment.append);
        self.renames |= assignment.name == "BASH_ALIASES";
        if field.start().trim().contains(' ') {
            self.say_text(field.clone());
        }
        // A file of this name is read as a part of each line that a shell runs.
        self.listens |= matches!(assignment.name.as_str(), "BASH_ENV" | "ENV") && field.known().is_none_or(is_stream);
        if alone {
            self.assignment_alone(&assignment.name, field.known(), assignment.span);
            let plain = assignment.index.is_none() && matches!(assignment.value, Value::Scalar(_));
            let before = if assignment.append { self.scope.value(&assignment.name) } else { Vec::new() };
            // What is appended to a text that is known is known with it; to a number it may be added.
            let text = before.iter().all(|bit| matches!(bit, Bit::Text(_)));
            let bits = before.into_iter().chain(field.bits.clone()).collect();
            let bits = if plain && text { shortened(bits) } else { any() };
            self.scope.assign(&assignment.name, bits);
        } else if program_text::is_variable(&assignment.name) {
            program_text::value_of(self, &field);
        }
        if !alone && !is_harmless(&assignment.name, field.known()) {
            let because = format!("`{}` can change what the command does", assignment.name);
            self.note(Finding::new(Verdict::Unknown, because, assignment.span));
        }
        field
    }

    /// Takes note of a value that the line gives to a variable, at any place and in any way: git may change anything in the
    /// folder that it names.
    pub(crate) fn tell_git_place(&mut self, variable: &str, value: &Field, appends: bool) {
        let folder = match variable {
            // In the folder in which the line starts, git works there anyway.
            "GIT_DIR" if self.scope.folders.iter().all(Vec::is_empty) => return,
            "GIT_DIR" => Field::text(".", value.span),
            "GIT_WORK_TREE" if appends => Field::any(value.span),
            "GIT_WORK_TREE" => value.clone(),
            _ => return,
        };
        self.touch(&Field { many: false, ..folder }, Access::Remove);
    }

    /// The command that another program runs by a variable.
    pub(crate) fn program_of(&mut self, name: &str, value: Option<&str>, span: Span) {
        if let Some(text) = value.filter(|_| program_text::is_variable(name)) {
            program_text::judge(self, &Script::known(text, span));
        }
    }

    /// An assignment that lasts.
    pub(crate) fn assignment_alone(&mut self, name: &str, value: Option<&str>, span: Span) {
        self.program_of(name, value, span);
        let number = value.is_some_and(|value| value.parse::<u32>().is_ok());
        if is_evaluated(name) && !number {
            let because = format!("what is assigned to `{name}` is read as arithmetic, which can run commands");
            self.note(Finding::new(Verdict::Unknown, because, span));
        }
        if is_dangerous(name) && !(PAGERS.contains(&name) && matches!(value, Some("" | "cat"))) {
            let because = format!("`{name}` can change what later commands do");
            self.note(Finding::new(Verdict::Unknown, because, span));
        }
    }

    /// `[expression]=value` in an array.
    fn element_index(&mut self, word: &Word) {
        if let Some(Piece::Text { text, quoted: false }) = word.pieces.first()
            && text.starts_with('[')
            && word.pieces.iter().any(|piece| matches!(piece, Piece::Text { text, .. } if text.contains("]=")))
        {
            let because = "an index of an array is read as arithmetic";
            self.note(Finding::new(Verdict::Unknown, because, word.span));
        }
    }
}

/// A value that is worth following.
fn shortened(bits: Vec<Bit>) -> Vec<Bit> {
    let length: usize = bits.iter().map(|bit| if let Bit::Text(text) = bit { text.len() } else { 1 }).sum();
    if length > 4096 || bits.len() > 64 { any() } else { bits }
}
