//! Commands that concern a project as a whole and no session: they are recorded in the project's journal alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::events::event::By;
use phasegate_core::policy::input::Values;
use phasegate_core::policy::{Mode, Policy, Scope};
use phasegate_core::{Change, Code, Durability, Event, EventKind, Outcome, State, records, state};
use phasegate_formats::journal::Entry;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState as _;
use serde_json::Value;

use crate::deadline::{Deadline, limit_from_environment};
use crate::driver::decide::decide;
use crate::facts;
use crate::operate::audit::line::Place;
use crate::operate::audit::log;
use crate::policies::policy_store::{Current, KeptSettings, summary};
use crate::project::{Project, Remembered};
use crate::runtime::Runtime;
use crate::sessions::integrity::check_project_journal;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot};

impl Runtime {
    /// Gives a command to the project, whether it has a session or not. `None`: nothing guards the project.
    ///
    /// # Errors
    ///
    /// `policy-invalid`, `policy-missing`: the configs cannot be used. `state-missing`, `state-unreadable`,
    /// `state-version`, `state-busy`, `state-not-saved`: the project's journal cannot.
    pub fn command_project(
        &self,
        project: &Project,
        by: By,
        name: &str,
        args: Value,
    ) -> Result<Option<Outcome>, Problem> {
        let memory = project.remembered()?;
        let Some(Configs { policy, strictest, settings }) = self.configs_of(project, memory)? else { return Ok(None) };
        project.check_folders(&self.locations.state)?;
        let deadline = Deadline::new(limit_from_environment());
        let (mut journal, mut kept) =
            Journal::open::<ProjectSnapshot>(self.store.as_ref(), &project.journal(), &deadline)?;
        check_project_journal(project, memory, kept.base + journal.seq(), 0)?;
        let time = (self.now)();
        let kind = EventKind::Command { by, name: name.to_string(), args };
        let event = Event { time: Some(time), ..Event::new("", kind) };
        let before = State { project: kept.project.clone(), session: state::Session::default() };
        let policy = Arc::new(self.policies.with_earlier(policy, &before)?);
        let mut policy = self.policies.with_instance(&policy, &before, &event, true)?;
        let gather =
            |policy: &_, keys: &[_], found: &mut _| facts::gather(facts::World::of(project, policy), keys, found);
        let decided = decide(&mut policy, &before, &event, gather, |skill| self.policies.keep(skill))?;
        let of_project = decided.outcome.changes.iter().filter(|change| change.scope() == Scope::Project);
        let of_project: Vec<Change> = of_project.cloned().collect();
        if of_project.is_empty() {
            return Ok(Some(decided.outcome));
        }
        let asked = of_project.iter().filter_map(|change| match change {
            Change::SkillInForce { mode, .. } => Some(*mode),
            Change::RunBegun(run) => Some(run.mode),
            _ => None,
        });
        let mode = asked.chain([strictest]).chain(memory.map(|memory| memory.mode)).max().unwrap_or(Mode::Warn);
        let mut remembered = Remembered { mode, damaged: false, ..memory.unwrap_or(Remembered::new(mode)) };
        if memory != Some(remembered) {
            project.remember(self.store.as_ref(), remembered)?;
        }
        let mut changes: Vec<_> = of_project.into_iter().map(ProjectChange::Engine).collect();
        changes.extend([ProjectChange::Guarded(true), ProjectChange::Synced(kept.base + journal.seq() + 1)]);
        changes.iter().for_each(|change| kept.apply(change));
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: policy.version.clone(),
            event: event.to_value(),
            facts: decided.facts,
            decision: decided.outcome.decision.clone(),
            changes,
            ..Entry::default()
        };
        journal.append(&entry, &kept, Durability::Synced)?;
        remembered.records = kept.base + journal.seq();
        project.remember(self.store.as_ref(), remembered)?;
        let place = Place { time, session: "", seq: None, policy: &policy.version, agent: None, principal: None };
        let lines = log::lines(&place, &records(&policy, &before, &event, &decided.outcome.changes));
        let logs = if lines.is_empty() { Vec::new() } else { log::paths(self, &project.root, &settings) };
        logs.iter().for_each(|path| log::append(path, &lines));
        Ok(Some(decided.outcome))
    }

    /// The skills that are in force for the project, and in which mode.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`: the project's journal cannot be read.
    pub fn in_force(&self, project: &Project) -> Result<BTreeMap<String, Mode>, Problem> {
        let kept = read_last::<ProjectSnapshot>(self.store.as_ref(), &project.journal())?;
        Ok(kept.map(|last| last.state.project.in_force).unwrap_or_default())
    }

    /// The values of the inputs of those of them that have some.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::in_force`].
    pub fn in_force_inputs(&self, project: &Project) -> Result<BTreeMap<String, Values>, Problem> {
        let kept = read_last::<ProjectSnapshot>(self.store.as_ref(), &project.journal())?;
        Ok(kept.map(|last| last.state.project.in_force_inputs).unwrap_or_default())
    }

    /// What the configs mean now; `None`: nothing guards the project.
    fn configs_of(&self, project: &Project, memory: Option<Remembered>) -> Result<Option<Configs>, Problem> {
        match self.current(project)? {
            Current::Ready(ready) => {
                let strictest = ready.strictest();
                Ok(Some(Configs { strictest, policy: ready.policy, settings: ready.settings }))
            }
            Current::Invalid { diagnostics, .. } => Err(Problem::new(Code::PolicyInvalid, summary(&diagnostics))),
            Current::Unguarded if memory.is_some() => {
                let text = format!("`{}` was guarded and has no config any more", project.root.display());
                Err(Problem::new(Code::PolicyMissing, text))
            }
            Current::Unguarded => Ok(None),
        }
    }
}

/// What the configs of a project mean.
struct Configs {
    policy: Policy,
    strictest: Mode,
    settings: KeptSettings,
}
