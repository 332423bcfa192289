//! The names in the words of a command, as rules compare them: `db`, `prod` and `eu` of `db-prod1.eu`.

use alloc::collections::BTreeSet;
use alloc::string::String;

use phasegate_rules::Value;

use crate::analysis::{SimpleCommand, Word};

/// The commands that decide where, and with which variables, those after them in a line run.
const BEFORE: [&str; 5] = ["cd", "declare", "export", "pushd", "set"];

/// The names in a command: in its words, in its assignments, and in the `cd` and `export` before it in the line.
pub(super) struct Names {
    all: BTreeSet<String>,
    /// Whether a word is not known.
    open: bool,
}

impl Names {
    pub(super) fn of(command: &SimpleCommand, before: &[SimpleCommand]) -> Self {
        let mut names = Self { all: BTreeSet::new(), open: command.alias };
        before.iter().filter(|earlier| decides(earlier)).for_each(|earlier| names.take(earlier));
        names.take(command);
        names
    }

    fn take(&mut self, command: &SimpleCommand) {
        let assigned = command.assignments.iter().map(|(_, value)| value);
        for word in command.words.iter().skip(1).chain(assigned) {
            let Word::Known(text) = word else {
                self.open |= matches!(word, Word::Unknown);
                continue;
            };
            self.text(text);
            // The value that stands at a letter: `-nprod`.
            let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
            if letters.next().is_some_and(char::is_alphabetic) {
                self.text(letters.as_str());
            }
        }
    }

    fn text(&mut self, text: &str) {
        let names = text.split(|letter: char| !letter.is_alphabetic()).filter(|name| !name.is_empty());
        self.all.extend(names.map(str::to_lowercase));
    }

    /// Them, as a set.
    pub(super) fn value(&self) -> Value<'_> {
        Value::set(self.all.iter().map(|name| Value::Text(name)).chain(self.open.then_some(Value::Unknown)))
    }
}

/// Whether a command decides something for those after it.
fn decides(command: &SimpleCommand) -> bool {
    match command.words.first() {
        Some(Word::Known(program)) => BEFORE.contains(&program.as_str()),
        Some(_) => false,
        // An assignment alone.
        None => true,
    }
}
