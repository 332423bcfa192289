//! The names in the words of a command, as rules compare them: `db`, `prod` and `eu` of `db-prod1.eu`.

use alloc::collections::BTreeSet;
use alloc::string::String;

use phasegate_rules::Value;

use crate::analysis::{SimpleCommand, Word};

/// The commands that decide where, and with which variables, those after them in a line run.
const BEFORE: [&str; 5] = ["cd", "declare", "export", "pushd", "set"];

/// The names in a command: in its words, in its assignments, and in the `cd` and `export` before it in the line. What is
/// made when the line runs is not among them.
pub(super) struct Names {
    all: BTreeSet<String>,
    /// Those in the hosts of addresses: `api`, `example` and `org` of `https://api.example.org/v1`.
    hosts: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(command: &SimpleCommand, before: &[SimpleCommand]) -> Self {
        let mut names = Self { all: BTreeSet::new(), hosts: BTreeSet::new() };
        before.iter().filter(|earlier| decides(earlier)).for_each(|earlier| names.take(earlier));
        names.take(command);
        names
    }

    fn take(&mut self, command: &SimpleCommand) {
        let assigned = command.assignments.iter().map(|(_, value)| value);
        for word in command.words.iter().skip(1).chain(assigned) {
            let Word::Known(text) = word else { continue };
            self.all.extend(parts(text));
            self.hosts.extend(host(text).into_iter().flat_map(parts));
            // The value that stands at a letter: `-nprod`.
            let mut letters = text.strip_prefix('-').unwrap_or_default().chars();
            if letters.next().is_some_and(char::is_alphabetic) {
                self.all.extend(parts(letters.as_str()));
            }
        }
    }

    /// Them, as a set.
    pub(super) fn value(&self) -> Value<'_> {
        Value::set(self.all.iter().map(|name| Value::Text(name)))
    }

    /// Those of hosts, as a set.
    pub(super) fn of_hosts(&self) -> Value<'_> {
        Value::set(self.hosts.iter().map(|name| Value::Text(name)))
    }
}

/// The names in a text, in lower case.
fn parts(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphabetic()).filter(|name| !name.is_empty()).map(str::to_lowercase)
}

/// The host of an address, with who logs in there.
fn host(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    rest.split(['/', '?', '#']).next()
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
