//! Clients that a line starts: no line of a session starts one that starts a guard.
//!
//! Which options, variables and folders leave the hooks out is not asked. One that is not known by its name or its file is
//! held with the line: its hooks cannot write to the guard, so that its calls are denied.

use std::cell::OnceCell;

use phasegate_core::calls::analysis::{Guarded, Part as Kind, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Table};

use super::client_files::{ClientFiles, on_path};
use super::client_names::{last, names};
use super::guard_files::Place;
use crate::clients::platforms::Client;

/// Programs that run a program of a package, or one that a file holds.
const RUNNERS: [&str; 14] =
    ["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "deno", "node", "nodejs", "uvx", "mise", "volta", "fnm"];
/// Commands of theirs that only tell of a package, or take it away.
const KEEPS: [&str; 9] = ["remove", "rm", "uninstall", "info", "view", "ls", "list", "outdated", "why"];
/// Options that make a client print something and end, where nothing but the name of a command stands before them.
const ASKS: [&str; 4] = ["--version", "-v", "--help", "-h"];
/// The most words of the name of a client's command.
const MOST_COMMAND_WORDS: usize = 2;
/// The most words of a command that are looked at as files.
const MOST_FILES: usize = 16;

impl<'a> Place<'a> {
    /// The clients that a line starts, or runs to change what they obey.
    pub(in crate::analysis) fn clients(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let clients = self.protected.clients();
        if clients.is_empty() {
            return Vec::new();
        }
        let files = OnceCell::new();
        let mut found: Vec<Guarded> = judged
            .parts
            .iter()
            .filter_map(|part| {
                let words: Vec<Option<String>> = part.words.iter().map(text).collect();
                let (client, at) = self.started(part, &words, &files)?;
                told(client, words.get(at.saturating_add(1)..).unwrap_or_default())
            })
            .collect();
        let says_file = |client: &&Client| {
            let variable = client.program.file_variable;
            !variable.is_empty() && line.contains(variable)
        };
        if found.is_empty() && judged.verdict != Verdict::Read {
            found.extend(clients.iter().find(says_file).and_then(|client| told(client, &[])));
        }
        found
    }

    /// Whether a word is the program of a client.
    pub(in crate::analysis) fn names_client(&self, word: &str) -> bool {
        self.protected.clients().iter().any(|client| names(client, word))
    }

    /// The client that a part starts, by its name or by its file, and which of the words is its program.
    fn started(
        &self,
        part: &Part,
        words: &[Option<String>],
        files: &OnceCell<ClientFiles<'a>>,
    ) -> Option<(&'a Client, usize)> {
        let clients: &'a [Client] = self.protected.clients();
        if let Some(found) = clients.iter().find_map(|client| Some((client, place_of(client, words)?))) {
            return Some(found);
        }
        let first = part.words.first()?;
        let guarded = || clients.iter().filter(|client| client.program.guarded);
        if is_process(first) {
            let own = guarded().find(|client| Some(client.adapter.id()) == self.protected.client());
            return Some((own.or_else(|| guarded().next())?, 0));
        }
        if let Some(last) = last_known(first)
            && let Some(client) = clients.iter().find(|client| client.program.names.contains(&last))
        {
            return Some((client, 0));
        }
        let files = || files.get_or_init(|| ClientFiles::find(clients, self.protected.client()));
        let runs = part.command.verdict != Verdict::Read;
        words.iter().enumerate().take(MOST_FILES).filter(|(at, _)| runs || *at == 0).find_map(|(at, word)| {
            let path = match word.as_deref()? {
                word if word.contains('/') && !word.starts_with('-') => self.absolute(&self.at_home(word)),
                word if at == 0 && runs && !Table::shipped().judges(word) => on_path(word)?,
                _ => return None,
            };
            Some((files().at(&path)?, at))
        })
    }

    /// A path with the user's home folder in place of its sign.
    fn at_home(&self, path: &str) -> String {
        path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("{}{rest}", self.protected.home()))
    }
}

/// What is told of a client that gets these words; `None` where it only prints what it knows, or starts no guard and changes
/// nothing.
fn told(client: &Client, words: &[Option<String>]) -> Option<Guarded> {
    let name = client.program.names.first()?;
    let found = |path: String| Some(Guarded { part: Kind::Client, path });
    let known: Vec<&str> = words.iter().filter_map(Option::as_deref).collect();
    if let [command @ .., last] = known.as_slice()
        && ASKS.contains(last)
        && known.len() == words.len()
        && command.len() <= MOST_COMMAND_WORDS
        && !command.iter().any(|word| word.starts_with('-'))
    {
        return None;
    }
    if client.program.guarded {
        return found((*name).to_owned());
    }
    let operands: Vec<&str> = known.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let runs = |change: &&&str| {
        let wanted: Vec<&str> = change.split(' ').collect();
        operands.windows(wanted.len()).any(|words| words == wanted)
    };
    found(format!("{name} {}", client.program.changes.iter().find(runs)?))
}

/// A word that is wholly known but for the home folder.
fn text(word: &Pattern) -> Option<String> {
    let known = word.0.iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Home => Some("~"),
        Piece::Any | Piece::Glob | Piece::Tree => None,
    });
    known.collect()
}

/// Which of the words is the client's program.
fn place_of(client: &Client, words: &[Option<String>]) -> Option<usize> {
    let is = |word: &Option<String>| word.as_deref().is_some_and(|word| names(client, word));
    let first = words.first()?;
    if is(first) {
        return Some(0);
    }
    let verb = words.iter().skip(1).flatten().find(|word| !word.starts_with('-'));
    let runs = first.as_deref().is_some_and(|word| RUNNERS.contains(&last(word)))
        && !verb.is_some_and(|verb| KEEPS.contains(&verb.as_str()));
    words.iter().position(is).filter(|_| runs)
}

/// Whether a program is that of a process which runs: `/proc/NUMBER/exe`.
fn is_process(word: &Pattern) -> bool {
    let (first, last) = (word.0.first(), word.0.last());
    let begins = matches!(first, Some(Piece::Text(text)) if text.starts_with("/proc/"));
    begins && matches!(last, Some(Piece::Text(text)) if text.ends_with("/exe"))
}

/// The last name of a path in a folder that is not known.
fn last_known(word: &Pattern) -> Option<&str> {
    match word.0.as_slice() {
        [_, .., Piece::Text(end)] => end.rsplit_once('/').map(|(_, name)| name),
        _ => None,
    }
}
