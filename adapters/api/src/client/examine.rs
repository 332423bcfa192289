//! Diagnostics as data: what a platform's settings mean for the guard. `phasegate doctor` shows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::client::install::InstallRequest;

/// Says what a platform's version and settings mean for the guard.
pub trait Diagnostics: Send + Sync {
    /// The versions of the platform that the adapter was recorded with, newest first.
    fn versions(&self) -> Vec<String>;

    /// The other hosts whose messages it reads as their documentation describes them. No version of them was recorded.
    fn documented(&self) -> Vec<String> {
        Vec::new()
    }

    /// The program and its arguments that print the platform's version; `None` if there is none.
    fn version_command(&self) -> Option<Vec<String>> {
        None
    }

    /// Where the platform itself keeps which sessions ran; `None` if it keeps no such table.
    fn session_table(&self) -> Option<SessionTable> {
        None
    }

    /// What is known of modules that the platform loads into itself; `None` if it loads none.
    fn modules(&self) -> Option<&'static ModuleTable> {
        None
    }

    /// What the platform's settings mean for the guard.
    fn examine(&self, request: &ExamineRequest) -> Examined;

    /// The ways to lose the guard that the platform gives no means to close.
    fn limits(&self) -> Vec<Limit> {
        Vec::new()
    }
}

/// A table of an SQLite database with a row for each session of a platform. Times are in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTable {
    /// The database: a path below the folder of the user's data (`XDG_DATA_HOME`, else `~/.local/share`).
    pub database: &'static str,
    /// The table's name.
    pub table: &'static str,
    /// The column of the folder that a session runs in.
    pub folder: &'static str,
    /// The column of the time at which it began.
    pub began: &'static str,
    /// The column of the time at which something last happened in it.
    pub last: &'static str,
}

/// Modules that a platform loads into itself: they can answer calls before the guard is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleTable {
    /// What the platform calls one.
    pub word: &'static str,
    /// The folders below which the platform looks for them, at whatever depth.
    pub roots: &'static [&'static str],
    /// The key by which a JSON file names the programs of one, in a list of paths that begin with a dot.
    pub key: &'static str,
    /// The file that makes a folder one, whatever else lies in it: the platform starts what that names.
    pub manifest: &'static str,
    /// How the names of the files of its programs end.
    pub ends: &'static [&'static str],
    /// How the events begin that only the guard should take.
    pub events: &'static [&'static str],
    /// The program and its arguments that say what a folder takes, which comes last.
    pub check: &'static [&'static str],
    /// A text of each answer of that program that says it.
    pub answers: &'static str,
}

/// How much a finding matters, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It is as it should be.
    Ok,
    /// It is worth knowing.
    Note,
    /// It works, and may not for long or not everywhere.
    Warning,
    /// The guard does not work as it should.
    Problem,
}

impl Level {
    /// The level's word: `ok`, `note`, `warning` or `problem`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What was found, as a fragment without a full stop.
    pub what: String,
    /// What to do about it, as a fragment without a full stop.
    pub suggestion: Option<String>,
}

impl Finding {
    /// What a client's version means: `recorded` is newest first, `program` is what prints the version. A version between
    /// the oldest and the newest that were recorded counts as they do; what its neighbours send alike is not kept twice.
    #[must_use]
    pub fn of_version(version: Option<&str>, recorded: &[&str], program: &str) -> Self {
        let known = recorded.join(", ");
        let Some(version) = version else {
            return Self::new(Level::Note, format!("the client's version is not known; recorded were {known}"))
                .with(format!("put `{program}` on `PATH`"));
        };
        if recorded.contains(&version) {
            return Self::new(Level::Ok, format!("client {version} is one that was recorded"));
        }
        let numbers = |text: &str| text.split('.').map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<_>>>();
        let bounds = [recorded.last(), recorded.first()].map(|bound| bound.and_then(|bound| numbers(bound)));
        match (numbers(version), bounds) {
            (Some(version_numbers), [Some(oldest), Some(newest)])
                if oldest < version_numbers && version_numbers < newest =>
            {
                Self::new(Level::Ok, format!("client {version} is between those that were recorded: {known}"))
            }
            _ => Self::new(Level::Warning, format!("client {version} was never recorded; recorded were {known}"))
                .with("run `phasegate drill` before you rely on it"),
        }
    }

    /// A finding that asks for nothing.
    #[must_use]
    pub fn new(level: Level, what: impl Into<String>) -> Self {
        Self { level, what: what.into(), suggestion: None }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn with(self, suggestion: impl Into<String>) -> Self {
        Self { suggestion: Some(suggestion.into()), ..self }
    }
}

/// What an examination looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExamineRequest {
    /// As for an installation; the machine's settings files are among the existing ones.
    pub install: InstallRequest,
    /// What the platform's program printed for [`Diagnostics::version_command`]; `None` if it could not be asked.
    pub version: Option<String>,
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
}

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The findings, in the order in which they are read.
    pub findings: Vec<Finding>,
    /// The programs that the platform starts as the guard: paths, or names found through `PATH`. Empty if it starts none.
    pub programs: Vec<String>,
    /// Whether the machine's own settings, which the user cannot change, start the guard.
    pub managed: bool,
}

/// A way to lose the guard that the platform gives no means to close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// How the guard is lost, as a fragment.
    pub way: String,
    /// What happens then, and what helps instead.
    pub then: String,
    /// The scenarios of fault reports that show it; empty where none does.
    pub shown: Vec<String>,
}

impl Examined {
    /// A finding from the answer of [`crate::client::install::Installer::unguarded`], for a platform with nothing more to say.
    #[must_use]
    pub fn from_unguarded(why: Option<String>) -> Self {
        let finding = match why {
            Some(why) => Finding::new(Level::Problem, why),
            None => Finding::new(Level::Ok, "the settings start the guard"),
        };
        Self { findings: vec![finding], ..Self::default() }
    }
}
