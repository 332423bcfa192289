//! Whether something of the project may print a report of tests in place of the runner (rules 3.3, tests).

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use phasegate_core::calls::analysis::SimpleCommand;
use phasegate_core::shell::test_report::Runner;
use phasegate_shell::Table;

use super::cargo_config;
use super::scripts::{self, known_words};

/// Modules that `python -m unittest` loads after it looks for modules in the working folder, as CPython 3.8 to 3.14 have
/// them.
const OF_UNITTEST: &str = "\
    unittest argparse ast contextvars copy dataclasses difflib dis gettext inspect linecache locale opcode _opcode pkgutil \
    pprint runpy signal textwrap token tokenize traceback _colorize \
    abc _bisect bisect _bz2 bz2 codecs collections _compression compression contextlib copyreg enum fnmatch functools _heapq \
    heapq importlib io ipaddress itertools keyword _lzma lzma math ntpath operator os pathlib random re reprlib shutil \
    sre_compile sre_constants sre_parse stat struct tempfile threading types typing urllib warnings weakref _weakrefset \
    zipfile zlib";
/// The most entries of a folder that are looked at; a folder with more counts as one that has such a module.
const MAX_ENTRIES: usize = 20_000;
/// What Maven's own script runs first, below the home folder.
const MAVEN_START: &str = ".mavenrc";
/// Those that `python -m pytest` loads besides.
const OF_PYTEST: &str = "\
    pytest _pytest pluggy iniconfig packaging pygments py exceptiongroup tomli tomllib attr attrs colorama bdb calendar cmd \
    code codeop concurrent configparser csv datetime decimal doctest email faulthandler glob hashlib html json logging numbers \
    pdb platform queue quopri reprlib select selectors shlex socket string subprocess timeit uuid xml";

/// What is known of the place where tests run.
#[derive(Clone, Copy)]
pub(in crate::analysis) struct Place<'a> {
    /// The folder in which the runner starts, or its line.
    pub(in crate::analysis) folder: &'a Path,
    /// What is known of programs.
    pub(in crate::analysis) table: &'a Table,
    /// The user's home folder, where it is known.
    pub(in crate::analysis) home: Option<&'a Path>,
    /// When the session began, where that is known.
    pub(in crate::analysis) began: &'a dyn Fn() -> Option<SystemTime>,
}

/// Whether a command that runs tests runs something of the project that may print what it likes.
pub(in crate::analysis) fn may_print(command: &SimpleCommand, runner: Runner, place: &Place<'_>) -> bool {
    let Some(words) = known_words(command) else { return true };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let place_is_new = |file: &Path| is_new(file, (place.began)());
    match words.as_slice() {
        [program, rest @ ..] if program.contains('/') => {
            place_is_new(&place.folder.join(program))
                || (rest.contains(&"-m") && has_module(place.folder, &|name| shadows(name, runner)))
        }
        [program, rest @ ..] if program.starts_with("python") || rest.contains(&"-m") => {
            has_module(place.folder, &|name| shadows(name, runner))
        }
        ["cargo", ..] => cargo_config::replaces(place.folder, &place_is_new),
        ["mvn", ..] => place.home.is_some_and(|home| place_is_new(&home.join(MAVEN_START))),
        _ => {
            let users = place.home.map(|home| home.join(scripts::SETTINGS)).filter(|file| place_is_new(file));
            scripts::may_print(&words, place.folder, place.table, users.as_deref())
        }
    }
}

/// Whether a program was written since the session began, or may have been. A program cannot set a file's ctime, and one
/// that is not there does not run.
pub(in crate::analysis) fn is_new(program: &Path, began: Option<SystemTime>) -> bool {
    // A link, and what it leads to.
    let (Ok(link), Ok(data)) = (program.symlink_metadata(), program.metadata()) else { return false };
    let older = |began| [&link, &data].into_iter().all(|data| changed(data).is_some_and(|changed| changed < began));
    !began.is_some_and(older)
}

#[cfg(unix)]
fn changed(data: &fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let (seconds, nanos) = (u64::try_from(data.ctime()).ok()?, u32::try_from(data.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn changed(data: &fs::Metadata) -> Option<SystemTime> {
    data.modified().ok()
}

/// Whether python would load a file or a folder of this name, in lower case, in place of a module that the runner loads.
fn shadows(name: &str, runner: Runner) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let loaded =
        matches!(ending, "" | "py" | "pyc" | "so" | "pyd") || ending.ends_with(".so") || ending.ends_with(".pyd");
    let is_in = |list: &str| list.split_ascii_whitespace().any(|module| module == stem);
    loaded && (is_in(OF_UNITTEST) || (runner == Runner::Pytest && is_in(OF_PYTEST)))
}

/// Whether a module lies in the folder that `loads` names, in lower case: a file, or a package.
fn has_module(folder: &Path, loads: &dyn Fn(&str) -> bool) -> bool {
    // What cannot be listed may still be loaded from.
    let Ok(entries) = fs::read_dir(folder) else { return folder.exists() };
    let mut count = 0_usize;
    for entry in entries.flatten() {
        count = count.saturating_add(1);
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if count > MAX_ENTRIES || (loads(&name) && (name.contains('.') || is_package(&entry.path()))) {
            return true;
        }
    }
    false
}

fn is_package(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().to_lowercase().starts_with("__init__."))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use phasegate_shell::Readers;
    use serde::Deserialize;

    use crate::analysis::tests::run_in;

    /// A line that runs tests in a project with these files, and whether something of the project may print its report.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        files: BTreeMap<String, String>,
        line: String,
        /// Whether the files are older than the session.
        #[serde(default)]
        old: bool,
        /// Whether calls of the session have written programs.
        #[serde(default)]
        lost: bool,
        unsure: bool,
    }

    #[test]
    fn every_line_is_believed_as_its_row_says() {
        let rows = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/own_programs.jsonl")).unwrap();
        let mut wrong = Vec::new();
        for row in rows.lines() {
            let row: Row = serde_json::from_str(row).unwrap();
            match run_in(&row.files, &row.line, row.old, row.lost.then_some(Readers::Programs)) {
                Some(run) if run.unsure == row.unsure => {}
                run => wrong.push(format!("{row:?}: {run:?}")),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
