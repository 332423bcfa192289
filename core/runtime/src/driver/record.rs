//! What a driver records: in the session's journal for every event, in the project's where that is due.

use std::mem::{swap, take};

use phasegate_adapter::{Memory, Problem};
use phasegate_core::policy::Scope;
use phasegate_core::{Change, Durability, Event, EventKind, Outcome, records};
use phasegate_formats::journal::Entry;
use serde_json::{Value, json};

use super::{Driver, unrecorded};
use crate::clients::alarm::JudgedCall;
use crate::driver::decide::Decided;
use crate::operate::audit;
use crate::project::session_key;
use crate::sessions::loaded::{AuditLines, SyncedRecord};
use crate::sessions::redact::{digest_of, shorten_event, shortened};
use crate::sessions::snapshot::{Checkpoint, ProjectChange, SessionChange, SessionCheckpoint};

/// A session's checkpoint in the project's journal is renewed after so many of its records.
const CHECKPOINT_RECORDS: u64 = 16;
/// Where journals are synced in the background, it is renewed after so many at the latest.
const MAX_CHECKPOINT_RECORDS: u64 = 256;

impl Driver<'_> {
    /// Appends what an event led to: to the project's journal where that is due, then to the session's.
    pub(super) fn record(&mut self, event: &Event, decided: Decided) -> Result<Outcome, Problem> {
        let Decided { outcome, facts } = decided;
        let is_synced = |change: &Change| change.durability() == Durability::Synced;
        let (synced, time) = (outcome.changes.iter().any(is_synced), event.time.unwrap_or_default());
        let history = records(&self.loaded.own.policy, &self.state, event, &outcome.changes);
        outcome.apply_to(&mut self.state);
        if outcome.changes.iter().any(Change::moves_a_run) {
            self.pass_over_words(event, time);
        }
        let of_project = outcome.changes.iter().filter(|change| change.scope() == Scope::Project);
        let of_project: Vec<Change> = of_project.cloned().collect();
        let project_synced = of_project.iter().any(is_synced);
        let moves = of_project.iter().any(Change::moves_a_run);
        self.record_project(event, of_project, project_synced)?;
        if moves {
            self.remember_head()?;
        }
        let own = &mut self.loaded.own;
        outcome.changes.iter().for_each(|change| own.snapshot.note_opened(change));
        // The session's record holds all of them, so that it alone tells what happened.
        let changes = outcome.changes.iter().cloned().map(SessionChange::Engine).collect();
        let entry = Entry {
            time,
            event: shortened(event, &own.policy, &own.snapshot.settings.redact),
            facts,
            decision: outcome.decision.clone(),
            changes,
            ..self.entry(self.loaded.own.policy.version.clone())
        };
        self.loaded.own.change(SessionChange::CheckpointDue(synced));
        self.append(entry, if synced { Durability::Synced } else { Durability::Written })?;
        if synced {
            self.note_head(event)?;
        }
        self.log(event, time, &history);
        self.remember()?;
        Ok(outcome)
    }

    /// The audit lines of an event are written after its record.
    fn log(&mut self, event: &Event, time: i64, history: &[phasegate_core::Record]) {
        let place = audit::line::Place {
            time,
            session: &self.session,
            seq: Some(self.loaded.session_journal.seq()),
            policy: &self.loaded.own.policy.version,
            agent: event.subagent(),
            principal: event.principal.as_deref(),
        };
        let lines = audit::log::lines(&place, history);
        if !lines.is_empty() {
            let logs = self.audit_logs().into_iter().map(|path| AuditLines { path, lines: lines.clone() });
            self.loaded.own.audit_lines.extend(logs.collect::<Vec<_>>());
        }
        if !self.loaded.session_journal.holds() {
            self.loaded.own.write_audit_lines();
        }
    }

    /// Records that a frame or an event could not be decided. The problem says so if even that failed.
    pub fn note_problem(&mut self, mut event: Value, problem: Problem) -> Problem {
        let policy = if self.loaded.own.without_policy { String::new() } else { self.version() };
        self.hold_notice();
        let part = |name: &str| event.get(name).and_then(Value::as_str);
        if let (Some("tool_call"), Some(id)) = (part("event"), part("id")) {
            let call = JudgedCall { denied: self.is_closed(), ..JudgedCall::allowed(id) };
            self.loaded.own.change(SessionChange::CallJudged(call));
        }
        shorten_event(&mut event, &self.loaded.own.snapshot.settings.redact);
        let why = Some(json!({"code": problem.code, "message": problem.message}));
        let saved = self.announce().and_then(|()| {
            let entry = Entry { event, problem: why, ..self.entry(policy) };
            self.append(entry, Durability::Written)
        });
        match saved {
            Ok(()) => problem,
            Err(unsaved) => unrecorded(&problem, &unsaved),
        }
    }

    /// Notes the session's name before any policy could be used, so that its records are known to be of a session.
    pub(super) fn name_session(&mut self) {
        if self.state.session.id.is_empty() && !self.session.is_empty() {
            let seen = Change::Seen { session: Some(self.session.clone()), permission_mode: None };
            self.state.apply(&seen);
            self.loaded.own.change(SessionChange::Engine(seen));
        }
    }

    /// Records that a frame could not be read.
    pub fn note_unreadable(&mut self, frame: &[u8], problem: Problem) -> Problem {
        self.note_problem(json!({"frame": digest_of(frame)}), problem)
    }

    /// Records what the adapter remembers of a frame that stands for no event.
    ///
    /// # Errors
    ///
    /// The record cannot be written.
    pub fn note_memory(&mut self, frame: &[u8], memory: Memory) -> Result<(), Problem> {
        if self.loaded.own.snapshot.memory == memory {
            return Ok(());
        }
        self.announce()?;
        self.loaded.own.change(SessionChange::Memory(memory));
        let entry = Entry { event: json!({"frame": digest_of(frame)}), ..self.entry(self.version()) };
        self.append(entry, Durability::Written)
    }

    /// A record of the session, now.
    fn entry(&self, policy: String) -> Entry<SessionChange> {
        Entry {
            time: (self.runtime.now)(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy,
            project_seq: Some(self.loaded.shared.snapshot.base + self.loaded.project_journal.seq()),
            ..Entry::default()
        }
    }

    /// Appends to the session's journal, with the changes that wait. Where the session began is kept once it has a record,
    /// so that a journal that is gone is missed.
    fn append(&mut self, mut entry: Entry<SessionChange>, durability: Durability) -> Result<(), Problem> {
        let (own, shared) = (&mut self.loaded.own, &self.loaded.shared);
        own.change(SessionChange::ProjectSynced(shared.snapshot.synced));
        entry.changes.append(&mut own.pending);
        swap(&mut own.snapshot.session, &mut self.state.session);
        let appended = self.loaded.session_journal.append(&entry, &own.snapshot, durability);
        swap(&mut own.snapshot.session, &mut self.state.session);
        appended?;
        if !own.rooted {
            self.project.keep_session(self.store, &self.runtime.locations, &self.session)?;
            own.rooted = true;
        }
        let failure_mode = self.own_failure_mode().unwrap_or_default();
        self.runtime.seen.note(&self.project.root, &self.session, failure_mode);
        Ok(())
    }

    /// Tells the project's journal of a session that is about to get its first record, or the first after a rest.
    fn announce(&mut self) -> Result<(), Problem> {
        let seq = self.loaded.session_journal.seq();
        if seq > 0 && self.loaded.shared.snapshot.is_awake(&session_key(&self.session)) {
            return Ok(());
        }
        if seq > 0 {
            self.loaded.session_journal.sync()?;
        }
        let event = json!({"event": "session", "session": self.session});
        let at = Checkpoint { seq, head: self.loaded.session_journal.head(), time: (self.runtime.now)() };
        self.loaded.own.change(SessionChange::Checkpointed(seq));
        self.append_project(event, Vec::new(), at, Durability::Synced)
    }

    fn record_project(&mut self, event: &Event, changes: Vec<Change>, synced: bool) -> Result<(), Problem> {
        let loaded = &mut self.loaded;
        let (key, seq) = (session_key(&self.session), loaded.session_journal.seq());
        let known = loaded.shared.snapshot.sessions.get(&key).map(|checkpoint| checkpoint.seq);
        let noted = known.unwrap_or(loaded.own.snapshot.anchored);
        let turns = matches!(event.kind, EventKind::SessionStart { .. } | EventKind::SessionEnd {});
        let due = loaded.own.snapshot.anchor_due && noted < seq;
        let rested = !loaded.shared.snapshot.is_awake(&key);
        let now = seq == 0
            || due
            || noted == 0
            || turns
            || rested
            || !changes.is_empty()
            || !loaded.shared.pending.is_empty();
        if !now && seq < noted + CHECKPOINT_RECORDS {
            return Ok(());
        }
        let time = event.time.unwrap_or_default();
        let mut at = Checkpoint { seq, head: loaded.session_journal.head(), time };
        // A checkpoint must not be ahead of what a crash leaves of the session's journal.
        if !now && loaded.own.background_sync && seq < noted + MAX_CHECKPOINT_RECORDS {
            match loaded.own.synced.take().filter(|record| record.seq >= noted + CHECKPOINT_RECORDS) {
                Some(SyncedRecord { seq, head }) => (at.seq, at.head) = (seq, head),
                None => {
                    loaded.own.wants_sync = true;
                    return Ok(());
                }
            }
        } else if seq > 0 && (!due || loaded.session_journal.holds()) {
            // The session's records say which of the project's were there.
            loaded.project_journal.write(false)?;
            loaded.session_journal.sync()?;
        }
        let durability = if synced || seq == 0 || rested { Durability::Synced } else { Durability::Written };
        loaded.own.change(SessionChange::Checkpointed(at.seq));
        self.append_project(json!({"event": event.name(), "session": self.session}), changes, at, durability)
    }

    /// Tells the project's journal of a record of the session's that must not be lost, once it is on the disk: the head of a
    /// journal is known outside of it. A crash in between leaves a head that is behind, which the next event renews. Where
    /// records are collected, this one is made durable now, after those of the project that it knows of.
    fn note_head(&mut self, event: &Event) -> Result<(), Problem> {
        if self.loaded.session_journal.holds() {
            self.loaded.project_journal.write(false)?;
            self.loaded.session_journal.sync()?;
        }
        let journal = &self.loaded.session_journal;
        let at = Checkpoint { seq: journal.seq(), head: journal.head(), time: event.time.unwrap_or_default() };
        let event = json!({"event": event.name(), "session": self.session});
        self.append_project(event, Vec::new(), at, Durability::Written)
    }

    /// Appends to the project's journal, with how far that of the session has come.
    fn append_project(
        &mut self,
        event: Value,
        changes: Vec<Change>,
        at: Checkpoint,
        durability: Durability,
    ) -> Result<(), Problem> {
        let shared = &mut self.loaded.shared;
        let time = at.time;
        shared.change(ProjectChange::Checkpoint(SessionCheckpoint { session: session_key(&self.session), at }));
        if shared.remembered.is_some() && !shared.snapshot.guarded {
            shared.change(ProjectChange::Guarded(true));
        }
        self.write_project(time, event, changes, durability)
    }

    /// Appends to the project's journal these changes, and those that wait.
    pub(super) fn write_project(
        &mut self,
        time: i64,
        event: Value,
        changes: Vec<Change>,
        durability: Durability,
    ) -> Result<(), Problem> {
        let (shared, own) = (&mut self.loaded.shared, &self.loaded.own);
        let journal = &mut self.loaded.project_journal;
        if durability == Durability::Synced {
            shared.change(ProjectChange::Synced(shared.snapshot.base + journal.seq() + 1));
        }
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: if own.policy.version.is_empty() { journal.policy() } else { &own.policy.version }.to_string(),
            event,
            changes: changes.into_iter().map(ProjectChange::Engine).chain(take(&mut shared.pending)).collect(),
            ..Entry::default()
        };
        swap(&mut shared.snapshot.project, &mut self.state.project);
        let appended = journal.append(&entry, &shared.snapshot, durability);
        swap(&mut shared.snapshot.project, &mut self.state.project);
        appended?;
        // The session's record says that this one is durable.
        if durability == Durability::Synced && journal.holds() {
            journal.sync()?;
        }
        Ok(())
    }
}
