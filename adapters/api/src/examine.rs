//! Examining as data: what a platform's settings, as they are, mean for the guard. `phasegate doctor` shows it.

use std::collections::BTreeMap;

use crate::InstallRequest;

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
    /// What the platform's program said to [`crate::Adapter::version_command`]; `None` if it could not be asked.
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

/// A way to lose the guard that the platform gives nobody the means to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How the guard is lost, as a fragment.
    pub way: &'static str,
    /// What happens then, and what helps in its place.
    pub then: &'static str,
    /// The scenarios of fault reports that show it; empty where none does.
    pub shown: &'static [&'static str],
}
