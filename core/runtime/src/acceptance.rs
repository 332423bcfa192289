//! Policies that ask for less than before, and their acceptance by a person (rules 4).

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
use crate::snapshot::{ProjectChange, ProjectSnapshot};
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

    /// Accepts what the configs of a project ask for now, for a person. Nothing is written where that is not less.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-busy`, `state-unreadable`, `state-version`: the project's journal cannot be used.
    pub fn accept_policy(&self, project: &Project) -> Result<(), Problem> {
        if self.weaker(project)?.is_empty() {
            return Ok(());
        }
        let Current::Ready(ready) = self.current(project)? else { return Ok(()) };
        let (mut journal, mut state) =
            Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &Deadline::new(LIMIT))?;
        let changes = vec![
            ProjectChange::Strength(Some(Box::new(self.strength(project, &ready)))),
            ProjectChange::Synced(journal.seq() + 1),
        ];
        changes.iter().for_each(|change| state.apply(change));
        let entry = Entry {
            time: (self.now)(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: ready.policy.version.clone(),
            event: json!({"event": "policy_accepted"}),
            changes,
            ..Entry::default()
        };
        Ok(journal.append(&entry, &state, Durability::Synced)?)
    }
}
