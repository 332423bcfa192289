//! What each part of the state knows of the others, so that a part that is gone or shorter is missed (rules 8.2).
//!
//! Every check costs the same however long the history is. `crate::operate::verify` compares everything.

use std::path::PathBuf;
use std::time::SystemTime;

use phasegate_adapter::Problem;
use phasegate_core::{Code, Durability};
use phasegate_formats::journal::Entry;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState as _;
use phasegate_store::store::Store as _;
use serde_json::json;

use crate::deadline::{Deadline, LIMIT};
use crate::project::{Project, Remembered, session_key};
use crate::sessions::snapshot::{Checkpoint, ProjectChange, ProjectSnapshot};

/// What was found when a session's journals were opened.
pub struct IntegrityCheck<'a> {
    /// The project.
    pub project: &'a Project,
    /// What is remembered of the project.
    pub remembered: Option<Remembered>,
    /// The session's id.
    pub session: &'a str,
    /// What is kept of where the session began.
    pub root: &'a dyn Fn() -> Result<Option<PathBuf>, Problem>,
    /// The project's journal.
    pub project_journal: &'a Journal,
    /// The session's journal.
    pub session_journal: &'a Journal,
    /// What the project's journal keeps.
    pub snapshot: &'a ProjectSnapshot,
    /// Whether the session says that what was known of it may be lost.
    pub lost: bool,
    /// How many records of the project's journal the session saw on the disk for good.
    pub saw: u64,
}

/// What is known of a session whose journals are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Whether what was known of it may be lost: nothing at all is known of the project, or was when it was first seen.
    pub lost: bool,
    /// Whether it is kept which project it began in.
    pub rooted: bool,
}

impl IntegrityCheck<'_> {
    /// Whether every journal is there, and as long as it was.
    ///
    /// # Errors
    ///
    /// `state-missing`: one is not. `state-unreadable`, `state-exposed`: where the session began cannot be read.
    pub fn check(&self) -> Result<Presence, Problem> {
        let (project, session) = (self.project_journal.seq(), self.session_journal.seq());
        self.check_checkpoint()?;
        check_project_journal(
            self.project,
            self.remembered,
            self.snapshot.base + self.project_journal.seq(),
            self.saw,
        )?;
        let root = (self.root)()?;
        let rooted = root.is_some_and(|root| root == self.project.root);
        if session == 0 && rooted {
            return Err(session_gone(self.session));
        }
        let unknown = project == 0 && session == 0 && self.remembered.is_none();
        let lost = self.lost || unknown || (session == 0 && self.snapshot.lost);
        Ok(Presence { lost, rooted })
    }

    /// The session's journal, as far as the project's journal knows of it.
    fn check_checkpoint(&self) -> Result<(), Problem> {
        let Some(checkpoint) = self.snapshot.sessions.get(&session_key(self.session)) else { return Ok(()) };
        compared(self.session, self.session_journal.seq(), &self.session_journal.head(), checkpoint)
    }
}

/// Whether the project's journal with so many records is as long as a session `saw` it, and there if the memory says so.
///
/// # Errors
///
/// `state-missing`: it is not.
pub fn check_project_journal(
    project: &Project,
    remembered: Option<Remembered>,
    seq: u64,
    saw: u64,
) -> Result<(), Problem> {
    let folder = project.folder.display();
    let saw = saw.max(remembered.map_or(0, |memory| memory.records));
    if seq < saw {
        return Err(missing(format!("the project's journal in `{folder}` had {saw} records and has {seq}")));
    }
    if seq > 0 {
        return Ok(());
    }
    let written = |path: &PathBuf| path.metadata().is_ok_and(|data| data.len() > 0);
    let sessions = project.session_journals().iter().any(written);
    if sessions || remembered.is_some_and(|memory| memory.sessions) {
        return Err(project_gone(project));
    }
    Ok(())
}

/// Whether a project that has no config and is not remembered was not guarded to the last.
///
/// # Errors
///
/// `state-missing`: it was. `state-unreadable`, `state-version`, `state-exposed`: its journal cannot be read.
pub fn check_unguarded(project: &Project) -> Result<(), Problem> {
    let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state).unwrap_or_default();
    if kept.guarded {
        return Err(missing(format!(
            "what was remembered of `{}` is gone, and so is its config",
            project.root.display()
        )));
    }
    Ok(())
}

/// Forgets that the project was guarded, and records that in its journal, if there is one. Its journals stay.
///
/// # Errors
///
/// `state-not-saved`: the memory cannot be removed, or the journal not be written. `state-busy`, `state-unreadable`,
/// `state-version`: the journal cannot be used.
pub fn forget(project: &Project) -> Result<(), Problem> {
    if project.journal().exists() {
        let (mut journal, mut state) =
            Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &Deadline::new(LIMIT))?;
        if journal.seq() > 0 {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let changes = vec![
                ProjectChange::Guarded(false),
                ProjectChange::Strength(None),
                ProjectChange::Accepted(None),
                ProjectChange::Synced(state.base + journal.seq() + 1),
            ];
            changes.iter().for_each(|change| state.apply(change));
            let entry = Entry {
                time: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
                engine: env!("CARGO_PKG_VERSION").to_string(),
                policy: journal.policy().to_string(),
                event: json!({"event": "forgotten"}),
                changes,
                ..Entry::default()
            };
            journal.append(&entry, &state, Durability::Synced)?;
        }
    }
    Ok(FileStore.remove(&project.memory())?)
}

/// Whether a session's journal, of which the last record has this number and chain hash, has what the checkpoint says.
///
/// # Errors
///
/// `state-missing`: it has not.
pub(crate) fn compared(session: &str, seq: u64, head: &str, checkpoint: &Checkpoint) -> Result<(), Problem> {
    if seq < checkpoint.seq {
        let message = format!("the journal of session `{session}` had {} records and has {seq}", checkpoint.seq);
        return Err(missing(message));
    }
    if seq == checkpoint.seq && head != checkpoint.head {
        let message = format!("record {seq} of the journal of session `{session}` is not the one that it was");
        return Err(missing(message));
    }
    Ok(())
}

/// The problem with a session that is known to have begun and has no journal.
pub(crate) fn session_gone(session: &str) -> Problem {
    missing(format!("the journal of session `{session}` is gone"))
}

/// The problem with a project that has sessions and no journal of its own.
pub(crate) fn project_gone(project: &Project) -> Problem {
    missing(format!(
        "the project's journal in `{}` is gone, or has fewer records than it had",
        project.folder.display()
    ))
}

/// The problem with a project that this process saw guarded, and of which neither a config nor state is left.
pub(crate) fn removed(project: &Project) -> Problem {
    let root = project.root.display();
    Problem::new(Code::PolicyMissing, format!("`{root}` was guarded, and both its config and its state are gone"))
}

/// The problem, with the command that repairs this session where one does.
pub fn repairable(problem: Problem, session: &str) -> Problem {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let named = !session.is_empty() && !session.starts_with('-') && session.chars().all(is_plain);
    let repairs = matches!(problem.code, Code::StateUnreadable | Code::StateMissing | Code::PolicyMissing);
    if !named || problem.remedy.is_some() || !repairs {
        return problem;
    }
    problem.with_remedy(format!(
        "ask the user to run `phasegate repair {session}` in a terminal: the session then goes on by what the user says \
         was active"
    ))
}

/// The problem with a session that was not seen to start, in a project in block mode of which nothing is known.
pub fn lost(session: &str) -> Problem {
    let what = format!("nothing is kept of this project, and session `{session}` was under way: its state may be lost");
    repairable(missing(what), session)
}

fn missing(message: String) -> Problem {
    Problem::new(Code::StateMissing, message)
}
