//! Which policy an event is decided by (rules 4).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phasegate_adapter::{FailureMode, Problem};
use phasegate_core::commands::slash_command;
use phasegate_core::events::event::{By, SessionSource};
use phasegate_core::policy::{Mode, Policy};
use phasegate_core::{Code, Event, EventKind};

use super::Driver;
use crate::clients::alarm::{Alarm, Past};
use crate::clients::client_settings;
use crate::clients::modules::takes_calls;
use crate::driver::failure_mode::{of_configs, of_mode};
use crate::policies::accepted_configs::{ACCEPT_VARIABLE, Choice, Offer};
use crate::policies::policy_store::{Current, Ready, summary};
use crate::policies::strength::{self, Strength, is_module};
use crate::project::Remembered;
use crate::project::texts::Texts;
use crate::sessions::integrity;
use crate::sessions::is_strict;
use crate::sessions::live::may_be_strict;
use crate::sessions::snapshot::{ProjectChange, SessionChange};

impl Driver<'_> {
    /// A live session keeps its policy. A session that starts, or that a person reloads, gets the policy of the current
    /// configs.
    pub(super) fn choose_policy(&mut self, event: &Event) -> Result<(), Problem> {
        self.loaded.shared.forget_accepted();
        let starts = matches!(event.kind, EventKind::SessionStart { source, .. } if source != SessionSource::Compact);
        let reloads = slash_command::reloads(event);
        let version = self.version();
        if !starts && !reloads && !version.is_empty() {
            self.loaded.own.policy = if self.loaded.own.policy.version == version {
                self.with_earlier(&self.state)?
            } else {
                let digest = &self.loaded.own.snapshot.policy_digest;
                let loaded = self.runtime.policies.load(&version, digest, &self.state);
                Arc::new(loaded.map_err(|problem| integrity::repairable(problem, &self.session))?)
            };
            return Ok(());
        }
        // The end of a session needs its state alone: it is the way on where the configs are gone or wrong.
        if ends_session(event) {
            self.loaded.own.policy = Arc::new(self.runtime.policies.with_earlier(Policy::default(), &self.state)?);
            return Ok(());
        }
        let choice = if reloads {
            self.runtime.offered(&self.project)?
        } else {
            let choice = self.runtime.choose(&self.project, &self.loaded.shared.snapshot)?;
            let accepts = choice.offer.as_ref().is_some_and(|offer| self.environment_accepts(event, offer));
            if accepts { self.runtime.offered(&self.project)? } else { choice }
        };
        let Choice { current, texts, offer, inherited } = choice;
        // A reload that fails leaves the session with the policy it has.
        self.loaded.own.without_policy = !reloads;
        let strict = matches!(&current, Current::Ready(ready) if ready.strictest() == Mode::Block);
        // A session that goes on does not begin anew, so what is lost of it stays lost.
        let anew = starts && !matches!(event.kind, EventKind::SessionStart { source: SessionSource::Resume, .. });
        self.set_lost(!anew && !reloads);
        let strength = self.compare(&current, event, reloads);
        let decides = reloads || !matches!(current, Current::Unguarded);
        self.use_current(current)?;
        self.set_lost(strict);
        if self.loaded.own.snapshot.lost {
            self.loaded.shared.change(ProjectChange::Lost(true));
            return Err(integrity::lost(&self.session));
        }
        self.loaded.own.without_policy = false;
        if reloads {
            self.loaded.own.change(SessionChange::Distrusted(BTreeSet::new()));
            let alarms = self.loaded.shared.snapshot.alarms.iter().filter(|alarm| !alarm.seen);
            let alarms: Vec<String> = alarms.map(Alarm::text).collect();
            if !alarms.is_empty() {
                self.add_notice(&format!("phasegate: accepted: what went past the guard: {}.", alarms.join("; ")));
            }
            let looked_at = self.loaded.shared.snapshot.looked_at();
            looked_at.into_iter().for_each(|change| self.loaded.shared.change(change));
        }
        if let Some(offer) = offer {
            let before = self.notice.take();
            self.notice = Some(offer.notice());
            before.iter().for_each(|before| self.add_notice(before));
        }
        // Only now: what a start that fails would note stays in a guard that goes on, and not in a hook.
        if decides {
            let accepts = !inherited && self.loaded.shared.snapshot.accepted.as_ref() != Some(&texts.accepted);
            self.note_accepted(&texts, accepts, strength)?;
        }
        Ok(())
    }

    /// Keeps the texts that decide from now on, and notes them where they are others than before.
    fn note_accepted(&mut self, texts: &Texts, accepts: bool, strength: Option<Strength>) -> Result<(), Problem> {
        texts.keep(&self.runtime.locations, self.store)?;
        self.loaded.shared.accept(accepts.then(|| texts.accepted.clone()), strength);
        Ok(())
    }

    /// Whether who started the client said in its environment that the offer is accepted, as where no person is. What an
    /// agent starts says nothing, and neither does a variable that the client's own settings set.
    fn environment_accepts(&self, event: &Event, offer: &Offer) -> bool {
        let afresh = matches!(
            event.kind,
            EventKind::SessionStart { source: SessionSource::Startup | SessionSource::Resume, parent: None }
        );
        let says = |value: &String| value == "project" || *value == offer.digest;
        let own = std::env::var(ACCEPT_VARIABLE).ok().filter(says);
        if !afresh || offer.of_user || own.is_none() {
            return false;
        }
        let names = [ACCEPT_VARIABLE.to_owned()];
        match self.loaded.own.snapshot.clients.last() {
            Some(client) => client.variables(&names).into_values().next() == own,
            // A guard in a server has the environment that its operator gave it.
            None => self.client.is_none() || !cfg!(target_os = "linux"),
        }
    }

    /// The session stays lost only where `stays` says so.
    fn set_lost(&mut self, stays: bool) {
        let lost = self.loaded.own.snapshot.lost && stays;
        self.loaded.own.change(SessionChange::Lost(lost));
    }

    /// Notes how the clients start servers and which modules they load, and has a person told where that is other than before.
    /// A reload accepts it. What to keep of it, with how much the configs ask for, where that is new.
    fn compare(&mut self, current: &Current, event: &Event, accepts: bool) -> Option<Strength> {
        let Current::Ready(ready) = current else { return None };
        if !ready.own || ready.is_void() {
            return None;
        }
        let from = event.cwd.as_ref().map_or_else(|| self.project.root.clone(), PathBuf::from);
        self.note_texts(&from);
        let kept = &self.loaded.shared.snapshot;
        let (mut now, before) = (self.runtime.strength(&self.project, ready, kept, &from), kept.strength.clone());
        let other = before.iter().flat_map(|before| now.unproven(before)).map(|(name, _)| name.to_owned());
        let (modules, servers): (BTreeSet<_>, BTreeSet<_>) =
            other.filter(|_| !accepts).partition(|name| is_module(name));
        let servers = servers.into_iter().filter(|name: &String| client_settings::file(name).is_none());
        self.loaded.own.change(SessionChange::Unproven(servers.collect()));
        let places = self.runtime.platforms.places();
        // Whatever it takes, it may start programs outside of every call; where no line can have written it, that is its own.
        let home = &self.runtime.locations.home;
        let is_own = |folder: &Path| places.own_folders_in(home).any(|own| folder.starts_with(own));
        let alarms = |folder: &String| !is_own(Path::new(folder)) || takes_calls(places, Path::new(folder));
        let taking: BTreeSet<_> = modules.into_iter().filter(alarms).collect();
        self.keep(taking.iter().map(|folder| Alarm::new(&self.session, Past::Module, folder)).collect());
        let Some(before) = before.as_ref().filter(|_| !accepts) else {
            return (before.as_ref() != Some(&now)).then_some(now);
        };
        let told = now.others(before, &taking);
        if !told.is_empty() || !taking.is_empty() {
            now.servers.clone_from(&before.servers);
        }
        let kept = (now != *before).then_some(now);
        if !told.is_empty() {
            self.add_notice(&strength::notice(&told));
        }
        kept
    }

    /// From now on the session uses the current configs.
    fn use_current(&mut self, current: Current) -> Result<(), Problem> {
        let remembered = self.loaded.shared.remembered;
        match current {
            Current::Ready(ready) if ready.is_void() && remembered.is_some_and(|memory| memory.mode == Mode::Block) => {
                Err(self.policy_missing("its config says nothing any more"))
            }
            Current::Ready(ready) => self.use_ready(*ready),
            Current::Unguarded if remembered.is_some() => Err(self.policy_missing("has no config any more")),
            Current::Unguarded => {
                let policy = self.runtime.policies.with_earlier(Policy::default(), &self.state)?;
                self.loaded.own.policy = Arc::new(policy);
                Ok(())
            }
            Current::Invalid { ref diagnostics, speaks_of_block, .. } => {
                let problem = Problem::new(Code::PolicyInvalid, summary(diagnostics));
                // Before the mistake the configs asked for no more than warnings.
                let warned = remembered.is_some_and(|memory| memory.mode == Mode::Warn) && !speaks_of_block;
                if of_configs(&current) == Some(FailureMode::Closed) && !warned {
                    self.configs = Some(FailureMode::Closed);
                }
                Err(problem)
            }
        }
    }

    fn use_ready(&mut self, ready: Ready) -> Result<(), Problem> {
        let (strictest, own) = (ready.strictest(), ready.own);
        self.loaded.own.policy = Arc::new(self.runtime.policies.with_earlier(ready.policy, &self.state)?);
        self.loaded.own.change(SessionChange::Settings(Box::new(ready.settings)));
        self.loaded.own.change(SessionChange::PolicyDigest(ready.digest));
        if own {
            let strict = strictest == Mode::Block || self.stays_strict();
            let mode = if strict { Mode::Block } else { Mode::Warn };
            self.keep_in_mind(|memory| memory.mode = mode)?;
        }
        self.configs = Some(of_mode(strictest));
        Ok(())
    }

    fn policy_missing(&self, what: &str) -> Problem {
        Problem::new(Code::PolicyMissing, format!("`{}` was guarded, and {what}", self.project.root.display()))
    }

    /// Whether block mode must stay remembered whatever the configs say: a run in block mode is live in some session of
    /// the project, or a session cannot be read and may have one.
    fn stays_strict(&self) -> bool {
        let remembered = self.loaded.shared.remembered.is_some_and(|memory| memory.mode == Mode::Block);
        is_strict(&self.state) || (remembered && may_be_strict(&self.project))
    }

    /// Remembers a run that is stricter than what is remembered, and that the project has sessions.
    pub(super) fn remember(&mut self) -> Result<(), Problem> {
        let Some(memory) = self.loaded.shared.remembered else { return Ok(()) };
        let mode = if is_strict(&self.state) { Mode::Block } else { memory.mode };
        self.keep_in_mind(|memory| (memory.mode, memory.sessions) = (mode, true))
    }

    /// Remembers that the project's journal is as long as it is now, since its last record must not be lost.
    pub(super) fn remember_head(&mut self) -> Result<(), Problem> {
        let records = self.loaded.shared.snapshot.base + self.loaded.project_journal.seq();
        if self.loaded.shared.remembered.is_none() {
            return Ok(());
        }
        self.keep_in_mind(|memory| memory.records = records)
    }

    fn keep_in_mind(&mut self, note: impl FnOnce(&mut Remembered)) -> Result<(), Problem> {
        let known = self.loaded.shared.remembered;
        let mut memory = Remembered { damaged: false, ..known.unwrap_or(Remembered::new(Mode::Warn)) };
        note(&mut memory);
        if self.loaded.shared.remembered != Some(memory) {
            self.loaded.shared.remembered = Some(memory);
            self.project.remember(self.store, memory)?;
        }
        Ok(())
    }
}

/// Whether a person ends the session by this event.
fn ends_session(event: &Event) -> bool {
    matches!(&event.kind, EventKind::Command { by: By::Human, name, .. } if name == "end_session")
}
