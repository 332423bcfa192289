//! What each part of the state knows of the others, so that a part that is gone or shorter is missed (rules 8.2).
//!
//! Every check costs the same however long the history is. `crate::verify` compares everything.

use std::path::PathBuf;
use std::time::SystemTime;

use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde_json::json;

use crate::deadline::{Deadline, LIMIT};
use crate::journal::{Durability, Entry, Journal, read_last};
use crate::kept::{KeptProject, kept};
use crate::project::{Project, Remembered, session_key};

/// What was found when a session's journals were opened.
pub(crate) struct Witnesses<'a> {
    pub(crate) project: &'a Project,
    pub(crate) remembered: Option<Remembered>,
    pub(crate) session: &'a str,
    /// What is kept of where the session began.
    pub(crate) root: &'a dyn Fn() -> Result<Option<PathBuf>, Problem>,
    /// The project's journal and the session's.
    pub(crate) journals: (&'a Journal, &'a Journal),
    /// What the project's holds.
    pub(crate) kept: &'a KeptProject,
    /// Whether the session says that what was known of it may be lost.
    pub(crate) lost: bool,
    /// How many records of the project's journal the session saw on the disk for good.
    pub(crate) saw: u64,
}

/// What is known of a session whose journals are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Presence {
    /// Whether what was known of it may be lost: nothing at all is known of the project, or was when it was first seen.
    pub(crate) lost: bool,
    /// Whether it is kept which project it began in.
    pub(crate) rooted: bool,
}

impl Witnesses<'_> {
    /// Whether every journal is there, and as long as it was.
    ///
    /// # Errors
    ///
    /// `state-missing`: one is not. `state-unreadable`, `state-exposed`: where the session began cannot be read.
    pub(crate) fn check(&self) -> Result<Presence, Problem> {
        let (project, session) = (self.journals.0.seq(), self.journals.1.seq());
        self.check_anchor()?;
        self.check_project()?;
        let root = (self.root)()?;
        let rooted = root.is_some_and(|root| root == self.project.root);
        if session == 0 && rooted {
            return Err(missing(format!("the journal of session `{}` is gone", self.session)));
        }
        let unknown = project == 0 && session == 0 && self.remembered.is_none();
        let lost = self.lost || unknown || (session == 0 && self.kept.lost);
        Ok(Presence { lost, rooted })
    }

    /// The session's journal, as far as the project's journal knows of it.
    fn check_anchor(&self) -> Result<(), Problem> {
        let Some(anchor) = self.kept.sessions.get(&session_key(self.session)) else { return Ok(()) };
        let (seq, head) = (self.journals.1.seq(), self.journals.1.head());
        let session = self.session;
        if seq < anchor.seq {
            let message = format!("the journal of session `{session}` had {} records and has {seq}", anchor.seq);
            return Err(missing(message));
        }
        if seq == anchor.seq && head != anchor.head {
            let message = format!("record {seq} of the journal of session `{session}` is not the one that it was");
            return Err(missing(message));
        }
        Ok(())
    }

    /// The project's journal, as far as the session and the memory know of it.
    fn check_project(&self) -> Result<(), Problem> {
        let (seq, saw) = (self.journals.0.seq(), self.saw);
        let folder = self.project.folder.display();
        if seq < saw {
            return Err(missing(format!("the project's journal in `{folder}` had {saw} records and has {seq}")));
        }
        if seq > 0 {
            return Ok(());
        }
        let written = |path: &PathBuf| path.metadata().is_ok_and(|data| data.len() > 0);
        let sessions = self.project.session_journals().iter().any(written);
        if sessions || self.remembered.is_some_and(|memory| memory.sessions) {
            let message = format!("the project's journal is gone from `{folder}`, which to remove is to begin anew");
            return Err(missing(message));
        }
        Ok(())
    }
}

/// Whether a project that has no config and is not remembered was not guarded to the last.
///
/// # Errors
///
/// `state-missing`: it was. `state-unreadable`, `state-version`, `state-exposed`: its journal cannot be read.
pub(crate) fn check_unguarded(project: &Project) -> Result<(), Problem> {
    let kept: KeptProject = kept(read_last(&project.journal())?.as_ref())?;
    if kept.guarded {
        return Err(missing(format!(
            "what was remembered of `{}` is gone, and so is its config",
            project.root.display()
        )));
    }
    Ok(())
}

/// Records in the project's journal, if there is one, that the project is guarded no more.
///
/// # Errors
///
/// As for [`Journal::open`] and [`Journal::append`].
pub(crate) fn note_forgotten(project: &Project) -> Result<(), Problem> {
    if !project.journal().exists() {
        return Ok(());
    }
    let mut journal = Journal::open(&project.journal(), &Deadline::new(LIMIT))?;
    let Some(last) = journal.last() else { return Ok(()) };
    let state = KeptProject { guarded: false, synced: journal.seq() + 1, ..kept(Some(&last))? };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let entry = Entry {
        time: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        engine: env!("CARGO_PKG_VERSION"),
        policy: last.policy,
        event: json!({"event": "forgotten"}),
        ..Entry::default()
    };
    Ok(journal.append(&entry, serde_json::to_value(&state).unwrap_or_default(), Durability::Synced)?)
}

/// The problem with a session that was not seen to start, in a project in block mode of which nothing is known.
pub(crate) fn lost(session: &str) -> Problem {
    missing(format!("nothing is kept of this project, and session `{session}` was under way: its state may be lost"))
}

fn missing(message: String) -> Problem {
    Problem::new(Code::StateMissing, message)
}
