//! Words in the walk: what runs while they are expanded, and what they become.

use crate::expand;
use crate::expand::field::{Field, any};
use crate::finding::Finding;
use crate::parse::Dialect;
use crate::script::Script;
use crate::tree::{List, Operation, Parameter, Piece, Span, Word};
use crate::walk::Walk;
use phasegate_core::calls::analysis::Verdict;

/// The steps of a piece of a word that is made at run time.
const PIECE_STEPS: usize = 24;

impl Walk<'_> {
    /// A word that is split: what it becomes.
    pub(crate) fn fields(&mut self, word: &Word) -> Vec<Field> {
        if !self.costs(word) {
            return vec![Field::any(word.span)];
        }
        self.inside(word);
        if self.dialect != Dialect::Bash && expand::has_braces(word, &self.scope) {
            let because = "braces mean something else to a shell that is not bash";
            self.note(Finding::new(Verdict::Unknown, because, word.span));
        }
        expand::fields(word, &self.scope)
    }

    /// A word that stays one: what it becomes.
    pub(crate) fn single(&mut self, word: &Word) -> Field {
        if !self.costs(word) {
            return Field { many: false, ..Field::any(word.span) };
        }
        self.inside(word);
        expand::single(word, &self.scope)
    }

    /// Counts the work of a word; whether the line may still need more.
    fn costs(&mut self, word: &Word) -> bool {
        let made = word.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { .. })).count();
        self.spend(made.saturating_mul(PIECE_STEPS), word.span)
    }

    /// The target of a redirection: what it becomes.
    pub(crate) fn target(&mut self, word: &Word) -> Field {
        if !self.costs(word) {
            return Field { many: false, ..Field::any(word.span) };
        }
        self.inside(word);
        expand::target(word, &self.scope)
    }

    /// Judges what runs while a word is expanded.
    pub(crate) fn inside(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Text { .. } => {}
                Piece::Command { list, .. } => self.apart(list),
                Piece::Process { list, output } => {
                    let fed = self.fed;
                    self.fed |= output;
                    let ((), found) = self.isolate(|walk| walk.apart(list));
                    // Nobody waits for it: what it feeds may end without reading all.
                    self.leaves_running |= *output || found.verdict > Verdict::Read;
                    self.fed = fed;
                }
                Piece::Arithmetic(inner) => self.arithmetic(inner),
                Piece::Parameter(parameter) => self.parameter(parameter, word),
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter, word: &Word) {
        if let Some(index) = &parameter.index {
            let all = index.literal().is_some_and(|(text, _)| text == "@" || text == "*");
            if !all {
                self.arithmetic(index);
            }
        }
        match &parameter.operation {
            Operation::Plain | Operation::Length | Operation::Names => {}
            Operation::Default(operand) | Operation::Edit(operand) | Operation::Trim { word: operand, .. } => {
                self.inside(operand);
                self.say_value(operand, parameter.quoted, word.span);
            }
            Operation::Assign(operand) => {
                self.say_value(operand, parameter.quoted, word.span);
                self.unproven = true;
                self.inside(operand);
                self.tell_git_place(&parameter.name, &expand::single(operand, &self.scope), false);
                self.assignment_alone(&parameter.name, None, word.span);
                self.scope.assign(&parameter.name, any());
            }
            Operation::Slice(operand) => self.arithmetic(operand),
            Operation::Indirect => {
                self.listens = true;
                let because = format!("the value of `{}` is read as a name or expanded again", parameter.name);
                self.note(Finding::new(Verdict::Unknown, because, word.span));
            }
        }
    }

    /// A value that the line gives where a variable has none: what a shell may read, and without quotes words that may be a
    /// command.
    fn say_value(&mut self, value: &Word, quoted: bool, span: Span) {
        let text = Field { span, ..expand::single(value, &self.scope) };
        let script = Script::of([&text]);
        if !quoted && script.text.trim().contains(' ') {
            let worst = self.worst_so_far();
            self.said_line(&script);
            self.back_to(worst);
        }
        self.say_text(text);
    }

    /// Judges commands that run in a shell of their own.
    pub(crate) fn apart(&mut self, list: &List) {
        let (scope, launched) = (self.scope.fork(), std::mem::take(&mut self.launched));
        self.list(list);
        (self.scope, self.launched) = (scope, launched);
    }
}
