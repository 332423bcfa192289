//! The names in the words of a command, as rules compare them: `db`, `prod` and `eu` of `db-prod1.eu`.

use alloc::collections::BTreeSet;
use alloc::string::String;

use phasegate_rules::Value;

use crate::analysis::{SimpleCommand, Word};

/// The commands that decide where, and with which variables, those after them in a line run.
const BEFORE: [&str; 13] =
    ["cd", "declare", "doas", "env", "export", "local", "pushd", "readonly", "set", "source", "sudo", "typeset", "."];
/// Programs that ask the hosts that they are given by bare names.
const CLIENTS: [&str; 7] = ["curl", "http", "https", "httpie", "wget", "xh", "xhs"];

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
        let client = matches!(command.words.first(), Some(Word::Known(name)) if CLIENTS.contains(&name.as_str()));
        for word in command.words.iter().skip(1).chain(assigned) {
            let Word::Known(text) = word else { continue };
            self.all.extend(parts(text));
            self.hosts.extend(host(text).or_else(|| bare_host(text).filter(|_| client)).into_iter().flat_map(parts));
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

/// The host of an address without `https://`: `prod.example.org/x`.
fn bare_host(text: &str) -> Option<&str> {
    let host = text.split(['/', '?', '#', ':']).next()?;
    let of_host = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '@' | '_');
    (host.contains('.') && !host.starts_with(['-', '.', '@']) && host.chars().all(of_host)).then_some(host)
}

/// Whether a command decides something for those after it, or runs one of them.
fn decides(command: &SimpleCommand) -> bool {
    match command.words.first() {
        Some(Word::Known(program)) => BEFORE.contains(&program.as_str()),
        Some(_) => false,
        // An assignment alone.
        None => true,
    }
}
