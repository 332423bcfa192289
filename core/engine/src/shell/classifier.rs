//! The classifier: what all that is registered says of a command.

use alloc::sync::Arc;

use crate::calls::analysis::{Registered, Word};
use crate::calls::cause::{By, SessionSource};
use crate::policy::Safety;
use crate::prelude::*;
use crate::shell::safety::{
    CommandWords, Entry, Level, Registry, SafetyPattern, arguments, changing, is_never_read, program, runs_another,
};
use crate::state::redacted_tests::Fit;
use crate::state::{Session, State};

/// All that is registered where a call is judged, and how much of it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classifier {
    /// What people registered for the project, and then what was registered in the session.
    registries: [Arc<Registry>; 2],
    settings: Safety,
}

impl Classifier {
    /// What counts in a state, under these settings.
    pub fn of(state: &State, settings: &Safety) -> Self {
        Self::with([Arc::clone(&state.project.safety), Arc::clone(&state.session.safety)], settings)
    }

    /// What counts of the registry of a project and that of a session, under these settings.
    pub fn with(registries: [Arc<Registry>; 2], settings: &Safety) -> Self {
        Self { registries, settings: settings.clone() }
    }

    /// Whether nothing is registered, and nothing can be.
    pub fn is_empty(&self) -> bool {
        let nothing = |registry: &Arc<Registry>| registry.entries.is_empty() && registry.approved.is_empty();
        self.registries.iter().all(nothing)
            && !self.settings.any
            && self.settings.programs.is_empty()
            && self.settings.overrides.is_empty()
    }

    /// Whether commands of a program are registered, or can be.
    pub fn is_about(&self, program: &str) -> bool {
        let registered = |registry: &Arc<Registry>| registry.entries.iter().any(|entry| entry.tool == program);
        self.names(program) || self.registries.iter().any(registered)
    }

    /// Whether a person lets agents classify a program.
    pub fn is_named(&self, program: &str) -> bool {
        self.settings.any || self.names(program)
    }

    /// Whether a person named this program for it.
    fn names(&self, program: &str) -> bool {
        let [project, _] = &self.registries;
        project.approved.iter().any(|one| one == program) || self.settings.names(program)
    }

    /// Whether a READ of this entry counts: that of an agent only while a person lets agents classify the program.
    fn counts(&self, entry: &Entry) -> bool {
        entry.by == By::Human
            || (self.is_named(&entry.tool) && !is_never_read(&entry.tool))
            || self.settings.overrides(&entry.tool)
    }

    /// Whether a person answers for what is registered of a command: they registered it, or named the program.
    pub fn is_persons(&self, registered: &Registered) -> bool {
        let Registered { tool, pattern, .. } = registered;
        let has = |entry: &Entry| entry.commands.iter().any(|one| Some(&one.pattern) == pattern.as_ref());
        self.names(tool) || self.entries().any(|entry| entry.by == By::Human && entry.tool == *tool && has(entry))
    }

    /// Whether what is registered of a program counts over what the table of programs says.
    pub fn overrides(&self, program: &str) -> bool {
        self.settings.overrides(program)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.registries.iter().flat_map(|registry| &registry.entries)
    }

    /// The patterns by which commands of a program only read.
    pub fn readers(&self, program: &str) -> Vec<String> {
        let of_program = self.entries().filter(|entry| entry.tool == program && self.counts(entry));
        let read = of_program.flat_map(|entry| &entry.commands).filter(|one| one.level.reads());
        read.map(|one| one.pattern.clone()).collect()
    }

    /// All patterns that are registered of a program, each after its level, as a person registers them.
    pub fn registered(&self, program: &str) -> Vec<String> {
        let of_program = self.entries().filter(|entry| entry.tool == program).flat_map(|entry| &entry.commands);
        of_program.map(|one| format!("{}={}", one.level.word(), one.pattern)).collect()
    }

    /// What is registered of a command, whose first word is the bare name of its program.
    ///
    /// A pattern in doubt selects nothing as READ, and all that it may be as WRITE. Where patterns disagree, WRITE wins; in
    /// the compat form the first that selects the command does.
    pub fn judge(&self, words: &[Word]) -> Option<Registered> {
        if self.is_empty() {
            return None;
        }
        let program = program(words)?;
        if !self.entries().any(|entry| entry.tool == program) {
            return None;
        }
        let command = CommandWords::of(words);
        let another = runs_another(words);
        let mut read: Option<Registered> = None;
        let mut doubtful: Option<Registered> = None;
        let mut default: Option<(Level, &str)> = None;
        let mut runs = false;
        for entry in self.entries().filter(|entry| entry.tool == program) {
            let counts = self.counts(entry);
            // No star that an agent registered stands for a program or a script that this one may run.
            let blind = another && entry.by != By::Human;
            for one in entry.commands.iter().filter(|one| counts || !one.level.reads()) {
                let Ok(pattern) = SafetyPattern::read(&one.pattern) else { continue };
                if blind && one.level.reads() && pattern.is_open() {
                    continue;
                }
                let fit = pattern.fits(&command, one.level.reads());
                let selects = if one.level.reads() { fit == Fit::Yes } else { fit != Fit::No };
                if !selects {
                    continue;
                }
                let found = Registered {
                    tool: entry.tool.clone(),
                    pattern: Some(one.pattern.clone()),
                    level: one.level.word().to_string(),
                    doubt: fit == Fit::Doubt,
                    changes: None,
                };
                if found.doubt && !self.settings.compat {
                    doubtful = doubtful.or(Some(found));
                    continue;
                }
                if !one.level.reads() || self.settings.compat {
                    return Some(found);
                }
                read = read.or(Some(found));
            }
            runs |= counts && entry.commands.iter().any(|one| one.level.reads());
            let given = entry.default.filter(|level| (counts && !blind) || !level.reads());
            default = default.filter(|(level, _)| !level.reads()).or(given.map(|level| (level, entry.tool.as_str())));
        }
        let told = || tells(words).filter(|_| runs && default.is_none_or(|(level, _)| level == Level::Write));
        doubtful.or(read).or_else(told).or_else(|| default.map(|(level, tool)| by_default(level, tool, words)))
    }
}

/// Why what is registered of a program does not make a command of it read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// It runs with other rights, for which no READ counts.
    Raised,
    /// A word that is known only when it runs stands where a READ pattern has a star.
    AtRunTime,
    /// A word that changes things stands where a READ pattern has a star.
    Changes(String),
    /// No READ pattern selects it.
    NoPattern,
}

impl NotRead {
    /// Why, as what follows "it is registered,".
    pub fn in_words(&self) -> String {
        match self {
            Self::Raised => "but no READ counts for other rights (`sudo`)".to_string(),
            Self::AtRunTime => {
                "but a word of this command is known only when it runs, and no star of a READ pattern stands for such a word"
                    .to_string()
            }
            Self::Changes(word) => {
                format!("but `{word}` is a word that changes things, and no star of a READ pattern stands for such a word")
            }
            Self::NoPattern => "and none of its patterns says that this command reads".to_string(),
        }
    }
}

impl Classifier {
    /// Why a command of which nothing more is known does not count as reading by what is registered of its program; `None`:
    /// nothing is. The first word is the bare name of the program.
    pub fn not_read(&self, words: &[Word]) -> Option<NotRead> {
        let program = program(words)?;
        if !self.entries().any(|entry| entry.tool == program) {
            return None;
        }
        if self.judge(words).is_some_and(|found| found.reads()) {
            return Some(NotRead::Raised);
        }
        let command = CommandWords::of(words);
        let fits: Vec<[Fit; 2]> = self
            .readers(program)
            .iter()
            .filter_map(|pattern| SafetyPattern::read(pattern).ok())
            .map(|pattern| [true, false].map(|careful| pattern.fits(&command, careful)))
            .collect();
        let changes = || changing(arguments(words)).filter(|_| fits.iter().any(|[_, fit]| *fit == Fit::Yes));
        Some(match changes() {
            Some(word) => NotRead::Changes(word.to_string()),
            None if fits.iter().any(|[fit, _]| *fit == Fit::Doubt) => NotRead::AtRunTime,
            None => NotRead::NoPattern,
        })
    }
}

/// A command that has a program of which some command reads tell of itself, and nothing else.
fn tells(words: &[Word]) -> Option<Registered> {
    let [Word::Known(option)] = arguments(words) else { return None };
    let tool = program(words).filter(|_| ["--help", "--version"].contains(&option.as_str()))?.to_string();
    let pattern = Some(format!("{tool} {option}"));
    Some(Registered { tool, pattern, level: Level::Read.word().to_string(), doubt: false, changes: None })
}

/// What a program's default says of a command that no pattern selects. Nothing that changes things is READ by default.
fn by_default(level: Level, tool: &str, words: &[Word]) -> Registered {
    let unsure = words.iter().any(|word| !matches!(word, Word::Known(_)));
    let word = changing(arguments(words)).map(ToString::to_string);
    let level = if level.reads() && (unsure || word.is_some()) { Level::Write } else { level };
    Registered { tool: tool.to_string(), pattern: None, level: level.word().to_string(), doubt: false, changes: word }
}

/// Whether a session is that of a program that another session's agent started, as a subagent's can be. One without a
/// parent is a client's own: of a client of a relay nothing shows who started it.
pub(crate) fn is_child(session: &Session) -> bool {
    session.source == Some(SessionSource::Child) && session.parent.is_some()
}
