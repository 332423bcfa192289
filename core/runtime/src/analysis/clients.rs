//! Clients that a line starts, and what that would change: what they obey, or whether they start the guard.

use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Guarded, Part as Kind, Word};
use phasegate_shell::{Judgement, Part, Pattern, Piece};

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

impl Place<'_> {
    /// The clients that a line runs to change what they obey, or without the guard.
    pub(super) fn clients(&self, judged: &Judgement) -> Vec<Guarded> {
        let clients = self.protected.clients();
        let started = |part: &Part| {
            let words: Vec<Option<String>> = part.words.iter().map(text).collect();
            clients.iter().find_map(|client| self.started(client, &words, part, judged))
        };
        judged.parts.iter().filter_map(started).collect()
    }

    /// Whether a word is the program of a client.
    pub(super) fn names_client(&self, word: &str) -> bool {
        self.protected.clients().iter().any(|client| names(client, word))
    }

    fn started(&self, client: &Client, words: &[Option<String>], part: &Part, judged: &Judgement) -> Option<Guarded> {
        let program = client.program;
        let name = *program.names.first()?;
        let guarded = |what: &str| Some(Guarded { part: Kind::Client, path: format!("{name} {what}") });
        if takes_version(client, words) {
            return guarded("in a version that the line names");
        }
        let at = place_of(client, words)?;
        if has_unknown_option(words.get(at + 1..).unwrap_or_default()) {
            return guarded("with words that are not known");
        }
        let arguments: Vec<&str> = words.iter().skip(at + 1).filter_map(|word| word.as_deref()).collect();
        let operands: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let runs = |change: &&&str| {
            let wanted: Vec<&str> = change.split(' ').collect();
            operands.windows(wanted.len()).any(|words| words == wanted)
        };
        if let [command @ .., last] = arguments.as_slice()
            && ASKS.contains(last)
            && (command.is_empty() || program.changes.iter().any(|change| begins(change, command)))
        {
            return None;
        }
        if let Some(change) = program.changes.iter().find(runs) {
            return guarded(change);
        }
        let unhooks = program.unhooks.iter().find(|unhook| {
            let given = value_of(&arguments, unhook.option).or_else(|| joined(&arguments, unhook.option));
            given.is_some_and(|value| unhook.unless.is_empty() || !value.contains(unhook.unless))
        });
        if let Some(unhook) = unhooks {
            return guarded(unhook.option);
        }
        if let Some(variable) = program.variables.iter().chain(&MOVES_STATE).find(|variable| sets(judged, variable)) {
            return Some(Guarded { part: Kind::Client, path: format!("{variable}=... {name}") });
        }
        let folders = || part.folders.iter().map(|folder| self.folder(folder)).collect::<Vec<_>>();
        let here = if part.folders.is_empty() { vec![Some(self.absolute("."))] } else { folders() };
        // An option's value is a folder, or a name of something below this one.
        let elsewhere = program.elsewhere.iter().find_map(|option| value_of(&arguments, option));
        let started_in = before(part, at, judged).find_map(|words| changed_folder(&words));
        let folders = match elsewhere.or(started_in.as_deref()) {
            Some(value) if value.starts_with(['/', '.', '~']) => vec![Some(self.absolute(&self.at_home(value)))],
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
fn has_unknown_option(words: &[Option<String>]) -> bool {
    let unknown = |at: usize| words.get(at).is_some_and(Option::is_none);
    let option = |at: Option<usize>| {
        at.and_then(|at| words.get(at)).and_then(Option::as_deref).is_some_and(|word| word.starts_with('-'))
    };
    (0..words.len()).any(|at| unknown(at) && !option(at.checked_sub(1)))
}

/// Where the version stands behind the last name of a package: `@scope/name@1.2`.
fn version_at(word: &str) -> Option<usize> {
    let name = word.rfind('/').map_or(0, |slash| slash.saturating_add(1));
    let (at, _) = word.get(name..)?.char_indices().skip(1).find(|(_, sign)| *sign == '@')?;
    Some(name.saturating_add(at))
}

fn version_of(word: &str) -> Option<&str> {
    word.get(version_at(word)?..)
}

fn names(client: &Client, word: &str) -> bool {
    // Behind another name of its own: `name@npm:@scope/name@1.2`.
    let word = word.split_once("@npm:").map_or(word, |(_, package)| package);
    let bare = version_at(word).and_then(|at| word.get(..at)).unwrap_or(word);
    let inside = |package: &str| {
        let rest = word.find(package).and_then(|at| word.get(at.saturating_add(package.len())..));
        package.contains('/') && rest.is_some_and(|rest| rest.starts_with(['/', '-']) && rest.contains('/'))
    };
    client.program.names.iter().any(|name| bare == *name || last(bare) == *name || inside(name))
}

/// The last name of a path, without the ending of a program.
fn last(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    [".exe", ".cmd", ".ps1"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The value of an option, which may be the next word; empty where it has none.
fn value_of<'a>(arguments: &[&'a str], option: &str) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let rest = word.strip_prefix(option)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None => rest.is_empty().then(|| arguments.get(at + 1).copied().unwrap_or_default()),
        }
    })
}

/// The rest of a word of short options that has this one: `-pw` and `-wname` have `-w`.
fn joined<'a>(arguments: &[&'a str], option: &str) -> Option<&'a str> {
    let mut letters = option.strip_prefix('-')?.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    let short = |word: &&'a str| word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let has = |letters: &'a str| {
        let options = letters.split(|sign: char| !sign.is_ascii_alphabetic()).next().unwrap_or_default();
        options.split_once(letter).map(|(_, rest)| rest)
    };
    arguments.iter().filter_map(short).find_map(has)
}

/// Whether a line gives the variable a value, in whatever place.
fn sets(judged: &Judgement, variable: &str) -> bool {
    let gives = |text: &str| text.strip_prefix(variable).is_some_and(|rest| rest.starts_with('='));
    let known = |word: &Word| matches!(word, Word::Known(text) if gives(text));
    judged
        .parts
        .iter()
        .map(|part| &part.command)
        .any(|command| command.assignments.iter().any(|(name, _)| name == variable) || command.words.iter().any(known))
}
