//! Clients that a line starts, and what that would change: what they obey, or whether they start the guard.
//!
//! A client is known by its file, or by its name where its file is not known. How it may be started is listed by its
//! adapter; whatever is not may leave the guard out.

use std::cell::OnceCell;
use std::path::PathBuf;

use phasegate_adapter::ClientStart;
use phasegate_core::analysis::{Guarded, Part as Kind, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Table};

use super::client_files::{ClientFiles, on_path, own_file};
use super::client_names::{last, names, version_of};
use super::client_words::{NOT_KNOWN, Said, Word, is_marked, listed, may_get};
use super::guarded::Place;
use crate::platforms::Client;
use crate::protected::Leaves;

/// Programs that run a program of a package, or one that a file holds.
const RUNNERS: [&str; 14] =
    ["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "deno", "node", "nodejs", "uvx", "mise", "volta", "fnm"];
/// Commands of theirs that only fetch a package, or take it away.
const MANAGES: [&str; 9] = ["install", "i", "add", "remove", "rm", "uninstall", "update", "info", "view"];
/// Commands of theirs that only tell of a package, or take it away.
const KEEPS: [&str; 9] = ["remove", "rm", "uninstall", "info", "view", "ls", "list", "outdated", "why"];
/// Options that make a client print something and end, where nothing but the name of a command stands before them.
const ASKS: [&str; 4] = ["--version", "-v", "--help", "-h"];
/// How what is said of a client ends that starts without the guard where it is.
pub(super) const UNGUARDED: &str = "without the guard";
/// What stands for a folder that is not known.
const UNKNOWN: &str = "/\u{fffd}";
/// Options of programs that start others in another folder.
const CHANGES_FOLDER: [&str; 9] =
    ["-C", "-D", "--chdir", "--cwd", "--dir", "--directory", "--prefix", "--wd", "--working-directory"];
/// Variables with which the guard that a client starts finds another state, so that it knows of no run.
const MOVES_STATE: [&str; 3] = ["PHASEGATE_STATE_DIR", "XDG_STATE_HOME", "HOME"];
/// Commands of a shell that give the programs behind them a variable.
const EXPORTS: [&str; 4] = ["export", "declare", "typeset", "readonly"];
/// The most words of a command that are looked at as files.
const MOST_FILES: usize = 16;
/// What a client is called where the line does not name it.
const UNNAMED: &str = "a program that is not known";

/// A client that a part of a line starts.
struct Started<'a> {
    client: &'a Client,
    /// Which of the words is its program.
    at: usize,
    /// What it is called in what is told.
    name: &'a str,
}

impl<'a> Place<'a> {
    /// The clients that a line runs to change what they obey, or in a way that may leave the guard out.
    pub(super) fn clients(&self, judged: &Judgement) -> Vec<Guarded> {
        let clients = self.protected.clients();
        if clients.is_empty() {
            return Vec::new();
        }
        let files = OnceCell::new();
        let started = |part: &Part| {
            let words: Vec<Word> = part.words.iter().map(Word::of).collect();
            let named: Vec<Option<String>> = part.words.iter().map(text).collect();
            if clients.iter().any(|client| takes_version(client, &named)) {
                let client = clients.iter().find(|client| takes_version(client, &named))?;
                return told(client.program.names.first()?, "in a version that the line names");
            }
            let found = self.started(&named, part, &words, judged, &files)?;
            self.judged(&found, part, &words, judged)
        };
        judged.parts.iter().filter_map(started).collect()
    }

    /// The line with the value of each variable that the client says its own file in, where it has one.
    pub(super) fn with_own_file(&self, line: &str) -> Option<String> {
        let starts = self.protected.clients().iter().filter_map(|client| client.program.start);
        let named = starts.map(|start| start.file_variable).filter(|name| !name.is_empty() && line.contains(*name));
        // The client tells it the programs of its agent, not always the guard.
        let value = |name: &str| {
            std::env::var(name).ok().or_else(|| own_file(self.protected.clients())?.to_str().map(str::to_owned))
        };
        let plain = named.fold(line.to_owned(), |line, name| match value(name) {
            Some(value) if !value.contains(|sign: char| sign.is_whitespace() || "'\"$`\\*?[".contains(sign)) => {
                line.replace(&format!("${{{name}}}"), &value).replace(&format!("${name}"), &value)
            }
            _ => line,
        });
        (plain != line).then_some(plain)
    }

    /// Whether a word is the program of a client.
    pub(super) fn names_client(&self, word: &str) -> bool {
        self.protected.clients().iter().any(|client| names(client, word))
    }

    /// The client that a part starts: by its name, by its file, or where the program is not known by words that are its own.
    fn started(
        &self,
        named: &[Option<String>],
        part: &Part,
        words: &[Word],
        judged: &Judgement,
        files: &OnceCell<ClientFiles<'a>>,
    ) -> Option<Started<'a>> {
        let clients: &'a [Client] = self.protected.clients();
        let files = || files.get_or_init(|| ClientFiles::find(clients, self.protected.client()));
        let found = |client: &'a Client, at: usize| Some(Started { client, at, name: client.program.names.first()? });
        if let Some((client, at)) = clients.iter().find_map(|client| Some((client, place_of(client, named)?))) {
            return found(client, at);
        }
        let first = part.words.first()?;
        let starts = || clients.iter().filter_map(|client| Some((client, client.program.start?)));
        if is_process(first) {
            let own = starts().find(|(client, _)| Some(client.adapter.id()) == self.protected.client());
            return found(own.or_else(|| starts().next())?.0, 0);
        }
        if let Some(last) = last_known(first)
            && let Some(client) = clients.iter().find(|client| client.program.names.contains(&last))
        {
            return found(client, 0);
        }
        let is_path = |word: &str| word.contains('/') && !word.starts_with('-');
        let runs = part.command.verdict != Verdict::Read;
        for (at, word) in named.iter().enumerate().take(MOST_FILES).filter(|(at, _)| runs || *at == 0) {
            let Some(word) = word.as_deref() else { continue };
            let path = match word {
                word if is_path(word) => Some(self.absolute(&self.at_home(word))),
                word if at == 0 && runs && !Table::shipped().judges(word) => on_path(word),
                _ => None,
            };
            if let Some(client) = path.and_then(|path| files().at(&path)) {
                return found(client, at);
            }
        }
        let is_missing = |word: &str| is_path(word) && self.absolute(&self.at_home(word)).symlink_metadata().is_err();
        let is_open = named.first()?.as_deref().is_none_or(is_missing);
        if !is_open {
            return None;
        }
        let variables = variables(part, 0, judged);
        let rest = words.get(1..).unwrap_or_default();
        let (client, _) = starts().find(|(_, start)| is_marked(start, rest, &variables))?;
        Some(Started { client, at: 0, name: UNNAMED })
    }

    /// What is told of a client that is started so; `None` where it surely starts the guard.
    fn judged(&self, found: &Started<'_>, part: &Part, words: &[Word], judged: &Judgement) -> Option<Guarded> {
        let Started { client, at, name } = *found;
        let program = client.program;
        let guarded = |what: &str| told(name, what);
        let rest = words.get(at.saturating_add(1)..).unwrap_or_default();
        // Behind the package's name the sign ends the options of what runs it: `npm exec PACKAGE -- --option`.
        let rest = rest.strip_prefix(&[Word::Known("--".to_owned())]).filter(|_| at > 0).unwrap_or(rest);
        let arguments: Vec<&str> = rest.iter().filter_map(Word::text).collect();
        let operands: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let runs = |change: &&&str| {
            let wanted: Vec<&str> = change.split(' ').collect();
            operands.windows(wanted.len()).any(|words| words == wanted)
        };
        if let [command @ .., last] = arguments.as_slice()
            && ASKS.contains(last)
            && arguments.len() == rest.len()
            && (command.is_empty() || program.changes.iter().any(|change| begins(change, command)))
            && unlisted(program.start, part, at, judged).is_none()
        {
            return None;
        }
        if let Some(change) = program.changes.iter().find(runs) {
            return guarded(change);
        }
        let said = match program.start {
            Some(start) => match listed(start, rest) {
                Ok(said) => said,
                Err(unlisted) => return guarded(&unlisted),
            },
            None if has_unknown_option(rest) => return guarded(NOT_KNOWN),
            None => Said::default(),
        };
        if let Some(variable) = unlisted(program.start, part, at, judged) {
            return Some(Guarded { part: Kind::Client, path: format!("{variable}=... {name}") });
        }
        let folders = || part.folders.iter().map(|folder| self.folder(folder)).collect::<Vec<_>>();
        let here = if part.folders.is_empty() { vec![Some(self.absolute("."))] } else { folders() };
        let started_in = before(part, at, judged).find_map(|words| changed_folder(&words));
        let folders = match said.folder.or(started_in.map(Some)) {
            Some(Some(value)) if value.starts_with(['/', '.', '~']) => vec![Some(self.absolute(&self.at_home(&value)))],
            // A name of something below this folder, or nobody knows where.
            Some(_) => vec![Some(self.base.join("\u{fffd}"))],
            None => here,
        };
        // A folder that is not known may be one of another project.
        let leaves = |folder: &Option<PathBuf>| match folder {
            Some(folder) => self.protected.leaves(client, folder),
            None => Some(Leaves::Project),
        };
        match folders.iter().find_map(leaves)? {
            Leaves::Project => guarded("in another folder"),
            Leaves::Guard => guarded(UNGUARDED),
        }
    }

    /// Where a folder of a line is, if that is known.
    fn folder(&self, folder: &Pattern) -> Option<PathBuf> {
        let known = text(folder)?;
        let bare = known.trim_end_matches('/');
        Some(self.absolute(&self.at_home(if bare.is_empty() { "/" } else { bare })))
    }

    /// A path with the user's home folder in place of its sign.
    fn at_home(&self, path: &str) -> String {
        path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("{}{rest}", self.protected.home()))
    }
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
    let runner = is_runner(first);
    let manages = |word: &Option<String>| word.as_deref().is_some_and(|word| MANAGES.contains(&word));
    let at = words.iter().position(is).filter(|_| runner)?;
    if words.iter().take(at).any(manages) { None } else { Some(at) }
}

fn is_runner(word: &Option<String>) -> bool {
    word.as_deref().is_some_and(|word| RUNNERS.contains(&last(word)))
}

/// Whether the line fetches or runs a client in a version that it names by number, which may know no guard.
fn takes_version(client: &Client, words: &[Option<String>]) -> bool {
    let numbered = |word: &str| {
        names(client, word)
            && version_of(word).is_some_and(|version| version.contains(|sign: char| sign.is_ascii_digit()))
    };
    let mut known = words.iter().skip(1).filter_map(|word| word.as_deref());
    words.first().is_some_and(is_runner)
        && known.clone().any(numbered)
        && !known.find(|word| !word.starts_with('-')).is_some_and(|verb| KEEPS.contains(&verb))
}

/// The words that stand before the client's program, in its own command and in those around it.
fn before<'a>(part: &'a Part, at: usize, judged: &'a Judgement) -> impl Iterator<Item = Vec<String>> + 'a {
    let around = judged.parts.iter().filter(|outer| outer.words.ends_with(&part.words));
    around.map(move |outer| {
        let more = outer.words.len().saturating_sub(part.words.len());
        outer
            .words
            .iter()
            .take(more.saturating_add(at))
            .map(|word| text(word).unwrap_or_else(|| UNKNOWN.into()))
            .collect()
    })
}

/// The folder that these words change to.
fn changed_folder(words: &[String]) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = CHANGES_FOLDER.iter().find_map(|option| word.strip_prefix(option))?;
        match rest.strip_prefix('=') {
            Some(folder) => Some(folder.to_owned()),
            None if rest.is_empty() => words.get(at.saturating_add(1)).cloned(),
            None => (!word.starts_with("--")).then(|| rest.to_owned()),
        }
    })
}

/// Whether the words are the first ones of a command.
fn begins(change: &str, words: &[&str]) -> bool {
    let mut change = change.split(' ');
    words.iter().all(|word| change.next() == Some(*word))
}

/// Whether a word that is not known may be an option: it is not the value of the option before it.
fn has_unknown_option(words: &[Word]) -> bool {
    let is_value =
        |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| word.start().starts_with('-'));
    words.iter().enumerate().any(|(at, word)| *word == Word::Open && !is_value(at))
}

/// What is told of a client.
fn told(name: &str, what: &str) -> Option<Guarded> {
    Some(Guarded { part: Kind::Client, path: format!("{name} {what}") })
}

/// The first variable that a part gives a client, and that it may not get.
fn unlisted(start: Option<&ClientStart>, part: &Part, at: usize, judged: &Judgement) -> Option<String> {
    let moves = |name: &String| MOVES_STATE.contains(&name.as_str());
    variables(part, at, judged)
        .into_iter()
        .find(|name| start.map_or_else(|| moves(name), |start| !may_get(start, name)))
}

/// The names of the variables that a line gives the program which stands at this word of a part: before it, before what
/// starts it, and for all programs of the line.
fn variables(part: &Part, at: usize, judged: &Judgement) -> Vec<String> {
    let program = |part: &Part| part.words.first().and_then(Pattern::text).unwrap_or_default();
    let name = |word: &Pattern| {
        let word = Word::of(word);
        let (name, _) = word.start().split_once('=')?;
        let plain = |name: &str| name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
        Some(name.trim_end_matches('+')).filter(|name| !name.is_empty() && plain(name)).map(str::to_owned)
    };
    let of_export = |part: &&Part| EXPORTS.contains(&program(part).as_str());
    let exported: Vec<String> = judged
        .parts
        .iter()
        .filter(of_export)
        .flat_map(|part| part.words.iter().skip(1))
        .filter_map(|word| Word::of(word).text()?.split('=').next().map(str::to_owned))
        .collect();
    let all = judged.parts.iter().any(|part| program(part) == "set" && part.words.iter().any(exports_all));
    let is_exported =
        |name: &str| all || exported.iter().any(|known| known == name) || std::env::var_os(name).is_some();
    let mut found = exported.clone();
    for outer in &judged.parts {
        let around = outer.words.ends_with(&part.words);
        let more = outer.words.len().saturating_sub(part.words.len()).saturating_add(at);
        let given = outer.command.assignments.iter().map(|(name, _)| name.clone());
        let lasting = outer.words.is_empty();
        found.extend(given.filter(|name| around || (lasting && is_exported(name))));
        if around {
            found.extend(outer.words.iter().take(more).filter_map(name));
        }
    }
    found
}

/// Whether an option of `set` gives every program the variables of the line.
fn exports_all(word: &Pattern) -> bool {
    word.text().is_some_and(|word| {
        word == "allexport" || (word.starts_with('-') && !word.starts_with("--") && word.contains('a'))
    })
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
