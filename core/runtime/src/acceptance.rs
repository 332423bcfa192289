//! What a person must accept: policies that ask for less than before, and calls that ran unjudged (rules 4).

use phasegate_adapter::Problem;
use phasegate_core::Durability;
use phasegate_formats::journal::Entry;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState as _;
use serde_json::json;

use crate::deadline::{Deadline, LIMIT};
use crate::policy_store::{Current, Ready};
use crate::project::Project;
use crate::runtime::Runtime;
use crate::servers::definitions;
use crate::snapshot::{ProjectChange, ProjectSnapshot, UnjudgedCall};
use crate::strength::Strength;

impl Runtime {
    /// How much these configs of a project ask for.
    #[must_use]
    pub fn strength(&self, project: &Project, ready: &Ready) -> Strength {
        Strength::of(ready, definitions(self.platforms.places(), &self.locations.home, &project.root))
    }

    /// In what the configs of a project ask for less than those that were accepted.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`, `state-exposed`: the project's journal cannot be read.
    pub fn weaker(&self, project: &Project) -> Result<Vec<String>, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        let Some(before) = kept.and_then(|kept| kept.strength) else { return Ok(Vec::new()) };
        Ok(match self.current(project)? {
            Current::Ready(ready) => self.strength(project, &ready).less_than(&before),
            Current::Unguarded | Current::Invalid { .. } => Vec::new(),
        })
    }

    /// The calls of a project that ran though the guard never judged them, as fragments, until a person accepts that.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`, `state-exposed`: the project's journal cannot be read.
    pub fn unjudged(&self, project: &Project) -> Result<Vec<String>, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        let calls = kept.map(|kept| kept.unjudged).unwrap_or_default();
        let told =
            |call: &UnjudgedCall| format!("the call `{}` of {} in session `{}`", call.id, call.tool, call.session);
        Ok(calls.iter().map(told).collect())
    }

    /// Accepts for a person what the configs of a project ask for now, and that calls ran unjudged. Nothing is written
    /// where there is nothing to accept.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-busy`, `state-unreadable`, `state-version`: the project's journal cannot be used.
    pub fn accept(&self, project: &Project) -> Result<(), Problem> {
        let current = if self.weaker(project)?.is_empty() { Current::Unguarded } else { self.current(project)? };
        let mut changes = Vec::new();
        let mut policy = String::new();
        if let Current::Ready(ready) = current {
            changes.push(ProjectChange::Strength(Some(Box::new(self.strength(project, &ready)))));
            policy.clone_from(&ready.policy.version);
        }
        if !self.unjudged(project)?.is_empty() {
            changes.push(ProjectChange::Unjudged(Vec::new()));
        }
        if changes.is_empty() {
            return Ok(());
        }
        let (mut journal, mut state) =
            Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &Deadline::new(LIMIT))?;
        changes.push(ProjectChange::Synced(journal.seq() + 1));
        changes.iter().for_each(|change| state.apply(change));
        let entry = Entry {
            time: (self.now)(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: if policy.is_empty() { journal.policy().to_string() } else { policy },
            event: json!({"event": "policy_accepted"}),
            changes,
            ..Entry::default()
        };
        Ok(journal.append(&entry, &state, Durability::Synced)?)
    }
}
