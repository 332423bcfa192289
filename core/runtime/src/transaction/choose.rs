//! Which policy an event is decided by, and how a problem would be answered (rules 4).

use std::path::Path;
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::event::SessionSource;
use phasegate_core::policy::{Mode, Policy};
use phasegate_core::{Code, Event, EventKind, State, slash_command};

use super::Transaction;
use crate::policy_store::{Current, summary};
use crate::project::{Project, Remembered};
use crate::runtime::Runtime;
use crate::sessions::{is_strict, may_be_strict};
use crate::stance::{Stance, Watch};
use crate::witness;

impl Transaction<'_> {
    /// The policy in use, with the skills that live runs of `state` began with.
    pub(super) fn with_earlier(&self, state: &State) -> Result<Arc<Policy>, Problem> {
        self.runtime.store.completed(&self.own.policy, state)
    }

    /// A live session keeps its policy; a session that starts, or that a person reloads, gets what the configs say now.
    pub(super) fn choose_policy(&mut self, event: &Event) -> Result<(), Problem> {
        let starts = matches!(event.kind, EventKind::SessionStart { source, .. } if source != SessionSource::Compact);
        let reloads = slash_command::reloads(event);
        let version = self.version();
        if !starts && !reloads && !version.is_empty() {
            self.own.policy = if self.own.policy.version == version {
                self.with_earlier(&self.state)?
            } else {
                Arc::new(self.runtime.store.load(&version, &self.own.policy_digest, &self.state)?)
            };
            return Ok(());
        }
        let current = match self.current.take() {
            Some(current) => current,
            None => self.runtime.current(&self.project)?,
        };
        // A reload that fails leaves the session with the policy it has.
        self.own.without_policy = !reloads;
        let strict = matches!(&current, Current::Ready(ready) if ready.strictest() == Mode::Block);
        // A session that goes on does not begin anew, so what is lost of it stays lost.
        let anew = starts && !matches!(event.kind, EventKind::SessionStart { source: SessionSource::Resume, .. });
        self.own.lost &= !anew && !reloads;
        self.use_current(current)?;
        self.own.lost &= strict;
        if self.own.lost {
            self.shared.kept.lost = true;
            return Err(witness::lost(&self.session));
        }
        self.own.without_policy = false;
        Ok(())
    }

    /// From now on the session goes by what the configs say.
    fn use_current(&mut self, current: Current) -> Result<(), Problem> {
        match current {
            Current::Ready(ready)
                if ready.is_void() && self.shared.remembered.is_some_and(|memory| memory.mode == Mode::Block) =>
            {
                let root = self.project.root.display();
                Err(Problem::new(
                    Code::PolicyMissing,
                    format!("`{root}` was guarded, and its config says nothing any more"),
                ))
            }
            Current::Ready(ready) => {
                self.own.policy = Arc::new(self.runtime.store.with_earlier(ready.policy.clone(), &self.state)?);
                self.own.settings = ready.settings.clone();
                self.own.policy_digest.clone_from(&ready.digest);
                if ready.own {
                    let strict = ready.strictest() == Mode::Block || self.stays_strict();
                    let mode = if strict { Mode::Block } else { Mode::Warn };
                    self.keep_in_mind(mode, self.shared.remembered.is_some_and(|memory| memory.sessions))?;
                }
                self.watch.set(ready.strictest().into());
                self.note_stance();
                Ok(())
            }
            Current::Unguarded if self.shared.remembered.is_some() => {
                let root = self.project.root.display();
                Err(Problem::new(Code::PolicyMissing, format!("`{root}` was guarded and has no config any more")))
            }
            Current::Unguarded => {
                self.own.policy = Arc::new(self.runtime.store.with_earlier(Policy::default(), &self.state)?);
                Ok(())
            }
            Current::Invalid { mode, unclear, ref diagnostics } => {
                if unclear || mode == Some(Mode::Block) {
                    self.watch.set(Stance::of(&current));
                }
                Err(Problem::new(Code::PolicyInvalid, summary(diagnostics)))
            }
        }
    }

    /// Whether block mode must stay remembered whatever the configs say: a run in block mode is live in some session of
    /// the project, or a session cannot be read and may have one.
    fn stays_strict(&self) -> bool {
        is_strict(&self.state)
            || (self.shared.remembered.is_some_and(|memory| memory.mode == Mode::Block) && may_be_strict(&self.project))
    }
}

/// Notes what a problem would meet as long as nothing is read. `None`: nothing guards the project and nothing ever did;
/// else what discovery says, where it had to be asked.
pub fn first_look(
    runtime: &Runtime,
    project: &Project,
    (remembered, journal): (&Result<Option<Remembered>, Problem>, &Path),
    watch: &Watch,
) -> Result<Option<Option<Current>>, Problem> {
    let stance = match remembered {
        Ok(Some(Remembered { mode: Mode::Block, .. })) => Stance::Block,
        Ok(Some(_)) if !journal.exists() && !project.journal().exists() => Stance::Warn,
        Ok(Some(_)) => Stance::Unsure,
        Ok(None) if journal.exists() => Stance::Unsure,
        Ok(None) => {
            let found = runtime.current(project)?;
            if matches!(found, Current::Unguarded) {
                watch.set(Stance::Unsure);
                witness::check_unguarded(project)?;
            }
            watch.set(Stance::of(&found));
            return Ok(Some(found).filter(|found| !matches!(found, Current::Unguarded)).map(Some));
        }
        Err(_) => Stance::Unknown,
    };
    watch.set(stance);
    Ok(Some(None))
}

/// Notes what a problem would meet once the journals are read.
pub fn loaded(watch: &Watch, remembered: Option<Remembered>) {
    if watch.get() == Stance::Unsure {
        watch.set(remembered.map_or(Stance::Unknown, |memory| memory.mode.into()));
    }
}

/// Notes what a problem would meet where these modes are in force; `policy`: whether a policy is in use.
pub fn known(watch: &Watch, mut modes: impl Iterator<Item = Mode>, policy: bool) {
    if modes.any(|mode| mode == Mode::Block) {
        watch.set(Stance::Block);
    } else if matches!(watch.get(), Stance::Unknown | Stance::Unguarded) && policy {
        watch.set(Stance::Warn);
    }
}
