//! The names in the words of a command, as rules compare them: `db`, `prod` and `eu` of `db-prod1.eu`.

use alloc::collections::BTreeSet;

use phasegate_rules::Value;

use crate::calls::analysis::{SimpleCommand, Word};
use crate::prelude::*;

/// The commands that decide where, and with which variables, those after them in a line run.
const BEFORE: [&str; 15] = [
    "alias", "cd", "declare", "doas", "env", "eval", "export", "local", "pushd", "readonly", "set", "source", "sudo",
    "typeset", ".",
];
/// Programs that ask the hosts that they are given by bare names.
const CLIENTS: [&str; 7] = ["curl", "http", "https", "httpie", "wget", "xh", "xhs"];

/// The names in a command: in its words, in its assignments, and in the `cd` and `export` before it in the line. Those in
/// what the line says of words that are made when it runs are names that it may have.
pub(super) struct Names {
    all: BTreeSet<String>,
    /// Those in the hosts of addresses: `api`, `example` and `org` of `https://api.example.org/v1`.
    hosts: BTreeSet<String>,
    /// Those that may be among all.
    maybe: BTreeSet<String>,
    /// Those that may be among the hosts.
    maybe_hosts: BTreeSet<String>,
    /// Whether there may be more.
    open: bool,
}

impl Names {
    pub(super) fn of(command: &SimpleCommand, before: &[SimpleCommand]) -> Self {
        let none = BTreeSet::new;
        let mut names = Self { all: none(), hosts: none(), maybe: none(), maybe_hosts: none(), open: false };
        before.iter().filter(|earlier| decides(earlier)).for_each(|earlier| names.take(earlier));
        names.take(command);
        names
    }

    fn take(&mut self, command: &SimpleCommand) {
        let assigned = command.assignments.iter().map(|(_, value)| value);
        let client = matches!(command.words.first(), Some(Word::Known(name)) if CLIENTS.contains(&name.as_str()));
        let host = |text| host(text).or_else(|| bare_host(text).filter(|_| client));
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
        for word in &command.beside {
            let Word::Known(text) = word else {
                self.open = true;
                continue;
            };
            self.maybe.extend(parts(text));
            self.maybe_hosts.extend(host(text).or_else(|| variable(text)).into_iter().flat_map(parts));
        }
    }

    /// Them, as a set.
    pub(super) fn value(&self) -> Value<'_> {
        self.set(&self.all, &self.maybe)
    }

    /// Those of hosts, as a set.
    pub(super) fn of_hosts(&self) -> Value<'_> {
        self.set(&self.hosts, &self.maybe_hosts)
    }

    fn set<'n>(&self, all: &'n BTreeSet<String>, maybe: &'n BTreeSet<String>) -> Value<'n> {
        let sure = all.iter().map(|name| Value::Text(name));
        let maybe = maybe.difference(all).map(|name| Value::Maybe(name));
        Value::set(sure.chain(maybe).chain(self.open.then_some(Value::Unknown)))
    }
}

/// The names in a text, in lower case.
fn parts(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphabetic()).filter(|name| !name.is_empty()).map(str::to_lowercase)
}

/// The names in the name of a server, in lower case: also `prod` and `db` of `prodDb`.
pub(crate) fn of_server(server: &str) -> Vec<String> {
    let letters: Vec<char> = server.chars().collect();
    let mut spaced = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let is_upper =
            |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_uppercase());
        let is_lower =
            |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_lowercase());
        let begins = letter.is_uppercase()
            && (is_lower(at.checked_sub(1)) || (is_upper(at.checked_sub(1)) && is_lower(at.checked_add(1))));
        if begins {
            spaced.push(' ');
        }
        spaced.push(*letter);
    }
    parts(&spaced).collect()
}

/// The host of an address, with who logs in there.
fn host(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    rest.split(['/', '?', '#']).next()
}

/// The name of a variable, which may hold an address.
fn variable(text: &str) -> Option<&str> {
    let of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    Some(text).filter(|text| text.chars().all(of_name))
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
