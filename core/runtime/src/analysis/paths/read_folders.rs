//! What lies in the folders that a call reads with all that they hold: `grep -r key .`, the client's search for text.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use phasegate_core::calls::analysis::{Access, PathUse, SimpleCommand, UNKNOWN, Word};
use phasegate_core::calls::tool::BASH;
use phasegate_core::values::glob::Glob;
use phasegate_core::{Event, EventKind, Policy};
use serde_json::Value;

use super::descendants::program_of;
use crate::analysis::line::GREP;

/// Programs that read folders, with the letters of options without which they do not; and what they leave out.
const READERS: [(&str, &str, Leaves); 14] = [
    ("ack", "", Leaves::Hidden),
    ("ag", "", Leaves::Hidden),
    ("cp", "rRa", Leaves::Nothing),
    ("diff", "r", Leaves::Nothing),
    ("egrep", "rR", Leaves::Nothing),
    ("fgrep", "rR", Leaves::Nothing),
    ("find", "", Leaves::Nothing),
    ("git grep", "", Leaves::Ignored),
    ("grep", "rR", Leaves::Nothing),
    ("rg", "", Leaves::Hidden),
    ("rsync", "", Leaves::Nothing),
    ("scp", "r", Leaves::Nothing),
    ("zgrep", "rR", Leaves::Nothing),
    ("zip", "r", Leaves::Nothing),
];
/// Those that search the folder that they run in where they are given none.
const SEARCHERS: [&str; 8] = ["ack", "ag", "egrep", "fgrep", "git grep", "grep", "rg", "zgrep"];
/// Options by which a searcher looks only at some names, or at none of them.
const ONLY: [&str; 5] = ["--include", "-g", "--glob", "-name", "-iname"];
const NOT: [&str; 1] = ["--exclude"];
/// Options by which it looks at kinds of files: none of these is one that a skill names by itself.
const KINDS: [&str; 2] = ["-t", "--type"];
/// Words of `find` by which it runs a program on what it finds, and those that turn what its tests say.
const RUNS: [&str; 3] = ["-exec", "-execdir", "-ok"];
const TURNS: [&str; 4] = ["!", "-not", "-o", "-or"];
/// The most entries of a folder that are looked at, the shallow ones first.
const MAX_ENTRIES: usize = 20_000;
/// The most files that are named of what a call reads.
const MAX_FILES: usize = 16;

/// What a program leaves out of a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Nothing.
    Nothing,
    /// What the repository ignores.
    Ignored,
    /// That, and names that begin with a dot.
    Hidden,
}

/// A folder that a call reads, and what of it.
struct Reading {
    folder: String,
    command: Option<u32>,
    leaves: Leaves,
    only: Vec<String>,
    not: Vec<String>,
}

/// What is known of the files of a folder.
pub(crate) trait Listing {
    /// The files below a folder, each as the project shows it. Of too many, the shallow ones.
    fn below(&self, folder: &str) -> Vec<String>;
    /// Whether the repository ignores a file.
    fn is_ignored(&self, path: &str) -> bool;
}

/// Adds to the paths of a call the files that it reads with their folder, and that a line of the policy asks about.
pub(crate) fn note(event: &mut Event, policy: &Policy, place: &dyn Fn() -> String, listing: &dyn Listing) {
    let EventKind::ToolCall { tool, server: None, input, analysis, .. } = &mut event.kind else { return };
    if analysis.open {
        return;
    }
    let read = |command: Option<u32>| {
        let of = analysis.paths.iter().filter(move |path| path.access == Access::Read && path.command == command);
        of.filter(|path| path.written != UNKNOWN).filter_map(|path| path.resolved.clone()).collect::<Vec<_>>()
    };
    let mut readings = Vec::new();
    if tool == BASH {
        for (number, command) in (0..).zip(&analysis.commands) {
            readings.extend(of_command(command, number, read(Some(number)), place));
        }
    } else if tool == GREP {
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let only = text("glob").or_else(|| text("type").map(|_| String::new())).into_iter().collect();
        let given = read(None);
        let folders = if given.is_empty() { vec![place()] } else { given };
        readings.extend(folders.into_iter().map(|folder| Reading {
            folder,
            command: None,
            leaves: Leaves::Ignored,
            only: Vec::clone(&only),
            not: Vec::new(),
        }));
    }
    let patterns = if readings.is_empty() { Vec::new() } else { policy.asked_to_be_read() };
    let mut found = Vec::new();
    for reading in readings.into_iter().filter(|_| !patterns.is_empty()) {
        let files = listing.below(&reading.folder).into_iter();
        let asked = files.filter(|file| patterns.iter().any(|pattern| pattern.fits(file)) && reading.takes(file));
        let read = asked.filter(|file| reading.leaves == Leaves::Nothing || !listing.is_ignored(file));
        found.extend(read.take(MAX_FILES).map(|file| PathUse {
            resolved: Some(file.clone()),
            command: reading.command,
            guess: true,
            ..PathUse::new(file, Access::Read)
        }));
    }
    analysis.paths.extend(found);
}

/// The folders that a command reads.
fn of_command(command: &SimpleCommand, number: u32, given: Vec<String>, place: &dyn Fn() -> String) -> Vec<Reading> {
    let name = program_of(command);
    let Some((_, letters, leaves)) = READERS.iter().find(|(reader, ..)| *reader == name) else { return Vec::new() };
    let words: Vec<&str> = command.words.iter().skip(1).filter_map(Word::known).collect();
    let short =
        |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains(|c| letters.contains(c));
    let long = |word: &&str| ["--recursive", "--dereference-recursive", "--archive"].contains(word);
    let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
    if name == "find" && !has(&RUNS) {
        return Vec::new();
    }
    let reads = letters.is_empty() || words.iter().any(|word| short(word) || long(word));
    if !reads || words.iter().any(|word| KINDS.iter().any(|kind| word.starts_with(kind))) && *leaves == Leaves::Hidden {
        return Vec::new();
    }
    let values = |options: &[&str]| {
        let attached = words.iter().filter_map(|word| word.split_once('=')).filter(|(name, _)| options.contains(name));
        let after = words.iter().zip(words.iter().skip(1)).filter(|(name, _)| options.contains(*name));
        attached.map(|(_, value)| value.to_owned()).chain(after.map(|(_, value)| (*value).to_owned())).collect()
    };
    // Which names a pattern of the shell means (`--include=*.py`), its beginning says.
    let begun = command.starts.iter().filter_map(|(_, start)| start.split_once('='));
    let begun: Vec<String> =
        begun.filter(|(name, _)| ONLY.contains(name)).map(|(_, start)| format!("{start}*")).collect();
    if begun.iter().any(|start| start == "*") {
        return Vec::new();
    }
    // A word that is made when the line runs may be the folder.
    let told = command.words.iter().all(|word| word.known().is_some());
    let here = told && given.is_empty() && SEARCHERS.contains(&name.as_str());
    let folders = if here { vec![place()] } else { given };
    let leaves = match leaves {
        Leaves::Hidden if has(&["-uu", "-uuu"]) => Leaves::Nothing,
        Leaves::Hidden if has(&["-.", "--hidden"]) && has(&["-u", "--no-ignore"]) => Leaves::Nothing,
        Leaves::Hidden if has(&["-.", "--hidden"]) => Leaves::Ignored,
        leaves => *leaves,
    };
    let (only, not): (Vec<String>, Vec<String>) = (values(if has(&TURNS) { &[] } else { &ONLY }), values(&NOT));
    let (but, only): (Vec<String>, Vec<String>) = only.into_iter().partition(|pattern| pattern.starts_with('!'));
    let not: Vec<String> =
        not.into_iter().chain(but.iter().map(|but| but.trim_start_matches('!').to_owned())).collect();
    let reading = |folder| Reading { folder, command: Some(number), leaves, only: only.clone(), not: not.clone() };
    folders.into_iter().map(reading).collect()
}

impl Reading {
    /// Whether it takes a file, by its name.
    fn takes(&self, file: &str) -> bool {
        let below = file.strip_prefix(&self.folder).filter(|_| !is_root(&self.folder)).unwrap_or(file);
        let hidden = below.split('/').any(|name| name.starts_with('.'));
        let name = file.rsplit('/').next().unwrap_or_default();
        let fits = |pattern: &String| Glob::from(pattern.rsplit('/').next().unwrap_or_default()).fits(name);
        (self.leaves != Leaves::Hidden || !hidden)
            && (self.only.is_empty() || self.only.iter().any(fits))
            && !self.not.iter().any(fits)
    }
}

/// Whether a folder is the project's, or of a transcript that says nothing of one.
pub(crate) fn is_root(folder: &str) -> bool {
    matches!(folder, "" | ".")
}

/// The files of a folder on this machine, each by its path below it; of too many, the shallow ones.
pub(crate) fn files_of(folder: &Path) -> Vec<String> {
    let mut folders = VecDeque::from([String::new()]);
    let (mut files, mut entries) = (Vec::new(), 0_usize);
    while let Some(at) = folders.pop_front() {
        for entry in fs::read_dir(folder.join(&at)).into_iter().flatten().flatten() {
            entries = entries.saturating_add(1);
            if entries > MAX_ENTRIES {
                return files;
            }
            let name = entry.file_name();
            let path =
                if at.is_empty() { name.to_string_lossy().into() } else { format!("{at}/{}", name.to_string_lossy()) };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && name != ".git" => folders.push_back(path),
                Ok(kind) if kind.is_dir() => {}
                Ok(_) => files.push(path),
                Err(_) => {}
            }
        }
    }
    files
}
