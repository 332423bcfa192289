//! What is loaded of a project and of a session. A process that stays keeps both between events.

use std::path::PathBuf;
use std::sync::Arc;

use phasegate_core::policy::Policy;
use phasegate_store::state::JournalState as _;

use crate::operate::audit;
use crate::policies::strength::Strength;
use crate::project::Remembered;
use crate::project::texts::Accepted;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot, SessionChange, SessionSnapshot};

/// A project as it is loaded.
#[derive(Debug, Default)]
pub struct LoadedProject {
    /// What its journal keeps.
    pub snapshot: ProjectSnapshot,
    /// Changes that are still to be recorded.
    pub pending: Vec<ProjectChange>,
    /// What is remembered of the project.
    pub remembered: Option<Remembered>,
    /// What was noted of the configs before the event that is decided.
    pub before: Option<Box<Noted>>,
}

/// What a journal notes of the configs.
#[derive(Clone, Debug)]
pub struct Noted {
    strength: Option<Strength>,
    accepted: Option<Accepted>,
}

/// A session as it is loaded.
#[derive(Debug, Default)]
pub struct LoadedSession {
    /// What its journal keeps.
    pub snapshot: SessionSnapshot,
    /// Changes that are still to be recorded.
    pub pending: Vec<SessionChange>,
    /// The policy in use; its version is empty until one was found.
    pub policy: Arc<Policy>,
    /// Whether the configs of now were looked for and cannot be used: the next event looks again.
    pub without_policy: bool,
    /// Whether it is kept which project the session began in.
    pub rooted: bool,
    /// Whether a thread syncs journals in the background, so that an event need not wait for a checkpoint.
    pub background_sync: bool,
    /// Whether the journal is to be synced in the background.
    pub wants_sync: bool,
    /// Whether the background thread was asked to sync it.
    pub sync_asked: bool,
    /// The last record that was synced in the background and has no checkpoint yet.
    pub synced: Option<SyncedRecord>,
    /// Lines for audit logs, which are written after the journal.
    pub audit_lines: Vec<AuditLines>,
}

/// A record that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedRecord {
    /// Its number.
    pub seq: u64,
    /// Its chain hash.
    pub head: String,
}

/// Lines for one audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLines {
    /// The log.
    pub path: PathBuf,
    /// The lines, each with its end.
    pub lines: String,
}

impl LoadedProject {
    /// Makes a change that the next record keeps.
    pub fn change(&mut self, change: ProjectChange) {
        self.snapshot.apply(&change);
        self.pending.push(change);
    }

    /// Notes which configs decide from now on, and how much they ask for.
    pub fn accept(&mut self, accepted: Option<Accepted>, strength: Option<Strength>) {
        let now = Noted { strength: self.snapshot.strength.clone(), accepted: self.snapshot.accepted.clone() };
        self.before.get_or_insert(Box::new(now));
        if accepted.is_some() {
            self.change(ProjectChange::Accepted(accepted));
        }
        if let Some(strength) = strength {
            self.change(ProjectChange::Strength(Some(Box::new(strength))));
        }
    }

    /// Takes back what an event that failed noted of the configs, as the end of a hook does.
    pub fn forget_accepted(&mut self) {
        let noted = |change: &ProjectChange| matches!(change, ProjectChange::Strength(_) | ProjectChange::Accepted(_));
        let waits = self.pending.iter().any(noted);
        if let Some(before) = self.before.take().filter(|_| waits) {
            self.pending.retain(|change| !noted(change));
            (self.snapshot.strength, self.snapshot.accepted) = (before.strength, before.accepted);
        }
    }
}

impl LoadedSession {
    /// Makes a change that the next record keeps. A change without effect is not kept.
    pub fn change(&mut self, change: SessionChange) {
        if !self.snapshot.has(&change) {
            self.snapshot.apply(&change);
            self.pending.push(change);
        }
    }

    /// Appends the lines that wait to the audit logs.
    pub fn write_audit_lines(&mut self) {
        for AuditLines { path, lines } in self.audit_lines.drain(..) {
            audit::log::append(&path, &lines);
        }
    }
}
