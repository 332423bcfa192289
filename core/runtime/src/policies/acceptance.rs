//! What a person must accept: policies that ask for less than before, and what went past the guard (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use phasegate_adapter::Problem;
use phasegate_core::{Code, Durability};
use phasegate_formats::journal::Entry;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState as _;
use serde_json::json;

use crate::clients::alarm::{Alarm, add};
use crate::clients::client_settings;
use crate::clients::client_texts;
use crate::clients::guard_file::GuardFile;
use crate::clients::modules::Search;
use crate::clients::servers::definitions;
use crate::deadline::{Deadline, LIMIT};
use crate::operate::record_comparison::not_accepted;
use crate::policies::accepted_configs::Choice;
use crate::policies::policy_store::{Current, Ready, summary};
use crate::policies::strength::Strength;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot};

impl Runtime {
    /// How much these configs of a project ask for, and which programs a client starts or loads in this folder of it.
    pub(crate) fn strength(&self, project: &Project, ready: &Ready, kept: &ProjectSnapshot, from: &Path) -> Strength {
        Strength::of(ready, Some(self.started(project, kept, from)))
    }

    /// The servers, settings and modules of the clients, each with its digest.
    fn started(&self, project: &Project, kept: &ProjectSnapshot, from: &Path) -> BTreeMap<String, String> {
        let (places, home, root) = (self.platforms.places(), &self.locations.home, &project.root);
        let mut all = definitions(places, home, root);
        all.extend(client_settings::definitions(places, root, from));
        let texts = client_texts::Search { platforms: places, home, root, from, others: BTreeSet::new() };
        all.extend(texts.definitions(&|_| true));
        all.extend(Search { home, root, from, known: kept.known_modules() }.definitions(places));
        all
    }

    /// How servers are started, and modules are, otherwise than a person accepted, each as a fragment.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`, `state-exposed`: the project's journal cannot be read.
    pub fn other_servers(&self, project: &Project) -> Result<Vec<String>, Problem> {
        let kept =
            read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state).unwrap_or_default();
        let Some(before) = &kept.strength else { return Ok(Vec::new()) };
        let servers = Some(self.started(project, &kept, &project.root));
        Ok(Strength { servers, ..before.clone() }.others(before, &BTreeSet::new()))
    }

    /// What went past the guard in a project and no person has accepted yet, the newest last.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`, `state-exposed`: the project's journal cannot be read.
    pub fn alarms(&self, project: &Project) -> Result<Vec<Alarm>, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        let alarms = kept.map(|kept| kept.alarms).unwrap_or_default();
        Ok(alarms.into_iter().filter(|alarm| !alarm.seen).collect())
    }

    /// The programs that answered as the guard of a project, in words, where there were several since a person last accepted
    /// the newest.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::alarms`].
    pub fn other_programs(&self, project: &Project) -> Result<Vec<String>, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        let programs = kept.map(|kept| kept.programs).unwrap_or_default();
        Ok(if programs.len() > 1 { programs.iter().map(GuardFile::in_words).collect() } else { Vec::new() })
    }

    /// Accepts for a person the configs that are there, how servers are started, and what went past the guard. Nothing is
    /// written where there is nothing to accept, or no session has begun: the first one accepts what it sees.
    ///
    /// # Errors
    ///
    /// `policy-invalid`, `policy-missing`: the configs cannot decide. `state-not-saved`, `state-busy`, `state-unreadable`,
    /// `state-version`: the project's journal cannot be used.
    pub fn accept(&self, project: &Project) -> Result<(), Problem> {
        let Some(mut kept) = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state)
        else {
            return Ok(());
        };
        let Choice { current, texts, .. } = self.offered(project)?;
        // A client that is started there reads settings of that folder, too.
        let here = std::env::current_dir().ok().filter(|folder| folder.starts_with(&project.root));
        let from = here.unwrap_or_else(|| project.root.clone());
        let strength = match &current {
            Current::Ready(ready) => Some(self.strength(project, ready, &kept, &from)),
            Current::Unguarded if project.remembered()?.is_none() => None,
            Current::Unguarded => return Err(gone(project)),
            Current::Invalid { diagnostics, .. } => {
                return Err(Problem::new(Code::PolicyInvalid, summary(diagnostics)));
            }
        };
        let mut changes = Vec::new();
        if kept.accepted.as_ref() != Some(&texts.accepted) {
            texts.keep(&self.locations, &FileStore)?;
            changes.push(ProjectChange::Accepted(Some(texts.accepted)));
        }
        if strength.is_some() && kept.strength != strength {
            changes.push(ProjectChange::Strength(strength.map(Box::new)));
        }
        for (_, alarm) in not_accepted(self, project) {
            add(&mut kept.alarms, alarm);
        }
        changes.extend(kept.looked_at());
        if changes.is_empty() {
            return Ok(());
        }
        let (mut journal, mut state) =
            Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &Deadline::new(LIMIT))?;
        changes.push(ProjectChange::Synced(state.base + journal.seq() + 1));
        changes.iter().for_each(|change| state.apply(change));
        let policy = match &current {
            Current::Ready(ready) => ready.policy.version.clone(),
            _ => journal.policy().to_string(),
        };
        let entry = Entry {
            time: (self.now)(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy,
            event: json!({"event": "policy_accepted"}),
            changes,
            ..Entry::default()
        };
        Ok(journal.append(&entry, &state, Durability::Synced)?)
    }
}

/// The problem with a guarded project whose configs are gone, where a person would accept that.
pub(crate) fn gone(project: &Project) -> Problem {
    let text = format!("`{}` was guarded and has no config any more", project.root.display());
    let way = "restore the files; `phasegate init --undo` ends the guard";
    Problem::new(Code::PolicyMissing, text).with_remedy(way.to_string())
}
