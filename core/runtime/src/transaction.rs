//! One transaction: lock, load, step, append, make durable (rules 8).

mod change;
mod choose;
pub mod halves;

use std::mem::take;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Memory, Problem};
use phasegate_core::policy::{Mode, Policy};
use phasegate_core::{Code, Event, EventKind, Facts, Outcome, State, records, state, step};
use serde_json::{Value, json};

use self::change::Change;
pub use self::choose::{first_look, known, loaded};
use self::halves::{Own, Shared};
use crate::analysis::Shell;
use crate::deadline::Deadline;
use crate::journal::{Durability, Entry, Journal};
use crate::kept::Anchor;
use crate::policy_store::Current;
use crate::project::{Project, Remembered, kept_root, session_key};
use crate::redact::{digest_of, shorten_event, shortened};
use crate::runtime::Runtime;
use crate::sessions::is_strict;
use crate::stance::Watch;
use crate::{analysis, audit, facts};

/// A session's anchor in the project journal is renewed after so many of its records.
const ANCHOR_EVERY: u64 = 16;
/// In a guard that stays, which has the disk asked in the background, it is renewed after so many at the latest.
const ANCHOR_LATEST: u64 = 256;

/// Both journals of a session, locked, and all that a decision depends on.
pub struct Transaction<'a> {
    /// Where configs and state are found.
    pub runtime: &'a Runtime,
    watch: &'a Watch,
    /// The project.
    pub project: Project,
    /// The session's id.
    pub session: String,
    /// The project's journal, locked.
    pub project_journal: Journal,
    /// The session's journal, locked.
    pub session_journal: Journal,
    shared: Shared,
    /// The session's half of what is loaded.
    pub own: Own,
    /// The state as it was loaded, or is after the last event.
    pub state: State,
    /// What discovery said before the journals were opened.
    current: Option<Current>,
}

impl<'a> Transaction<'a> {
    /// Locks and loads. `None`: nothing guards the project and nothing ever did; the disk was not touched.
    pub fn open(
        runtime: &'a Runtime,
        project: Project,
        session: &str,
        (deadline, watch): (&Deadline, &'a Watch),
    ) -> Result<Option<Self>, Problem> {
        let remembered = project.remembered();
        let path = project.session_journal(session);
        let Some(current) = first_look(runtime, &project, (&remembered, &path), watch)? else { return Ok(None) };
        let remembered = remembered?;
        project.check_folders(&runtime.locations.state)?;
        let journals = (Journal::open(&project.journal(), deadline)?, Journal::open(&path, deadline)?);
        let mut halves = (Shared::of(&journals.0, remembered)?, Own::of(&journals.1)?);
        let root = || kept_root(&runtime.locations, session);
        halves::check((&project, session), (&journals.0, &journals.1), (&halves.0, &mut halves.1), &root)?;
        Ok(Some(Self::new((runtime, watch), (project, session), journals, halves, current)))
    }

    /// The transaction of a session whose journals are in order.
    pub fn new(
        (runtime, watch): (&'a Runtime, &'a Watch),
        (project, session): (Project, &str),
        (project_journal, session_journal): (Journal, Journal),
        (mut shared, mut own): (Shared, Own),
        current: Option<Current>,
    ) -> Self {
        let state = State { session: take(&mut own.state), project: take(&mut shared.kept.project) };
        let session = session.to_string();
        let transaction =
            Self { runtime, watch, project, session, project_journal, session_journal, shared, own, state, current };
        loaded(watch, transaction.shared.remembered);
        transaction.note_stance();
        transaction
    }

    /// What stays when the transaction is over.
    pub fn over(mut self) -> ((Journal, Journal), (Shared, Own)) {
        (self.own.state, self.shared.kept.project) = (self.state.session, self.state.project);
        ((self.project_journal, self.session_journal), (self.shared, self.own))
    }

    /// Decides one event and records it.
    pub fn decide(&mut self, mut event: Event) -> Result<Outcome, Problem> {
        event.time.get_or_insert_with(self.runtime.now);
        if event.session.is_empty() {
            event.session.clone_from(&self.session);
        }
        if event.principal.is_some() {
            self.own.principal.clone_from(&event.principal);
        }
        if let Err(problem) = self.choose_policy(&event) {
            return Err(self.note_problem(event.to_value(), problem));
        }
        let (root, logs) = (&self.project.root, self.audit_logs());
        let protected = || self.runtime.protected(Some(root), &logs);
        // Only a record knows what was left out of it.
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.redacted = None;
            analysis.open = false;
        }
        analysis::complete(&mut event, root, &Shell::of(&self.own.settings), &protected);
        if let EventKind::Join { runs, .. } = &event.kind {
            let session = state::Session { runs: runs.clone(), ..state::Session::default() };
            let joined = State { session, ..State::default() };
            self.own.policy = self.with_earlier(&joined)?;
        }
        let (answer, used) = settle(&self.own.policy, &self.state, &event, &self.project.root)?;
        let mut after = answer.state_after(&self.state);
        self.record(&event, &answer, &mut after, used)?;
        self.state = after;
        self.note_stance();
        self.remember()?;
        Ok(answer)
    }

    /// Records that a frame or event could not be decided; the problem, which says so if even that failed.
    pub fn note_problem(&mut self, event: Value, problem: Problem) -> Problem {
        let policy = if self.own.without_policy { String::new() } else { self.version() };
        let mut entry = Entry {
            time: (self.runtime.now)(),
            engine: env!("CARGO_PKG_VERSION"),
            policy,
            event,
            problem: Some(json!({"code": problem.code, "message": problem.message})),
            project_seq: Some(self.project_journal.seq()),
            ..Entry::default()
        };
        shorten_event(&mut entry.event, &self.own.settings.redact);
        let due = self.own.anchor_due;
        let saved = self.announce().and_then(|()| self.save(&entry, None, due, Durability::Written));
        match saved {
            Ok(()) => problem,
            Err(unsaved) => unrecorded(&problem, &unsaved),
        }
    }

    /// Records what the adapter remembers of a frame that stands for no event.
    pub fn note_memory(&mut self, frame: &[u8], memory: Memory) -> Result<(), Problem> {
        if self.own.memory == memory {
            return Ok(());
        }
        self.own.memory = memory;
        let entry = Entry {
            time: (self.runtime.now)(),
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.version(),
            event: json!({"frame": digest_of(frame)}),
            project_seq: Some(self.project_journal.seq()),
            ..Entry::default()
        };
        self.announce()?;
        self.save(&entry, None, self.own.anchor_due, Durability::Written)
    }

    /// Appends to the session's journal, with this state of the engine, or the one as it was. Where the session began is kept
    /// once it has a record, so that a journal that is gone is missed.
    fn save(
        &mut self,
        entry: &Entry,
        after: Option<&mut state::Session>,
        anchor_due: bool,
        durability: Durability,
    ) -> Result<(), Problem> {
        match self.change(after, anchor_due) {
            Change::Whole(state) => self.session_journal.append(entry, state, durability)?,
            Change::Patch(patch) => self.session_journal.append_patch(entry, patch, durability)?,
        }
        self.own.saw = self.shared.kept.synced;
        if !self.own.rooted {
            self.project.keep_session(&self.runtime.locations, &self.session)?;
            self.own.rooted = true;
        }
        Ok(())
    }

    /// Tells the project's journal of a session that is about to get its first record.
    fn announce(&mut self) -> Result<(), Problem> {
        if self.session_journal.seq() > 0 {
            return Ok(());
        }
        let event = json!({"event": "session", "session": self.session});
        let anchor = Anchor { seq: 0, head: self.session_journal.head(), time: (self.runtime.now)() };
        self.shared.kept.project.clone_from(&self.state.project);
        self.save_project(event, anchor, Durability::Synced)
    }

    /// Records that a frame could not be read.
    pub fn note_unreadable(&mut self, frame: &[u8], problem: Problem) -> Problem {
        self.note_problem(json!({"frame": digest_of(frame)}), problem)
    }

    /// The policy version of the last record, or of the policy in use.
    fn version(&self) -> String {
        let known = &self.own.policy.version;
        if known.is_empty() { self.session_journal.policy().to_string() } else { known.clone() }
    }

    /// Appends what an event led to: to the project's journal where that is due, then to the session's.
    fn record(&mut self, event: &Event, answer: &Outcome, after: &mut State, used: Facts) -> Result<(), Problem> {
        let matters = answer.changes.iter().any(|change| change.durability() == phasegate_core::Durability::Synced);
        let durability = if matters { Durability::Synced } else { Durability::Written };
        let time = event.time.unwrap_or_default();
        let records = records(&self.own.policy, &self.state, event, &answer.changes);
        self.record_project(event, &after.project, time)?;
        let value = shortened(event, &self.own.policy, &self.own.settings.redact);
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.own.policy.version.clone(),
            event: value,
            facts: used,
            decision: answer.decision.clone(),
            records: records.clone(),
            problem: None,
            project_seq: Some(self.project_journal.seq()),
        };
        self.save(&entry, Some(&mut after.session), matters, durability)?;
        self.own.anchor_due = matters;
        let place = audit::line::Place {
            time,
            session: &self.session,
            seq: Some(self.session_journal.seq()),
            policy: &self.own.policy.version,
            agent: event.subagent(),
        };
        let lines = audit::log::lines(&place, &records);
        if !lines.is_empty() {
            self.own.late.extend(self.audit_logs().into_iter().map(|path| (path, lines.clone())));
        }
        if !self.session_journal.holds() {
            self.own.write_late();
        }
        Ok(())
    }

    fn audit_logs(&self) -> Vec<PathBuf> {
        audit::log::paths(self.runtime, &self.project.root, &self.own.settings)
    }

    fn record_project(&mut self, event: &Event, after: &state::Project, time: i64) -> Result<(), Problem> {
        let key = session_key(&self.session);
        let seq = self.session_journal.seq();
        let noted = self.shared.kept.sessions.get(&key).map_or(self.own.anchored, |anchor| anchor.seq);
        let turns = matches!(event.kind, EventKind::SessionStart { .. } | EventKind::SessionEnd {});
        let changed = self.state.project != *after;
        let now = seq == 0 || self.own.anchor_due || noted == 0 || turns || changed;
        if !now && seq < noted + ANCHOR_EVERY {
            return Ok(());
        }
        let mut anchor = Anchor { seq, head: self.session_journal.head(), time };
        // What is noted of the session must not be ahead of what a crash leaves of it.
        if !now && self.own.lazy && seq < noted + ANCHOR_LATEST {
            match self.own.durable.take().filter(|(durable, _)| *durable >= noted + ANCHOR_EVERY) {
                Some((durable, head)) => (anchor.seq, anchor.head) = (durable, head),
                None => {
                    self.own.wants_sync = true;
                    return Ok(());
                }
            }
        } else if seq > 0 && (!self.own.anchor_due || self.session_journal.holds()) {
            // The session's records say which of the project's were there.
            self.project_journal.write_held(false)?;
            self.session_journal.sync()?;
        }
        self.shared.kept.project = after.clone();
        let durability = if changed || seq == 0 { Durability::Synced } else { Durability::Written };
        self.save_project(json!({"event": event.name(), "session": self.session}), anchor, durability)
    }

    /// Appends to the project's journal, with how far that of the session has come.
    fn save_project(&mut self, event: Value, anchor: Anchor, durability: Durability) -> Result<(), Problem> {
        let time = anchor.time;
        self.own.anchored = anchor.seq;
        self.shared.kept.anchor(&session_key(&self.session), anchor);
        self.shared.kept.guarded |= self.shared.remembered.is_some();
        if durability == Durability::Synced {
            self.shared.kept.synced = self.project_journal.seq() + 1;
        }
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.own.policy.version.clone(),
            event,
            ..Entry::default()
        };
        self.project_journal.append(&entry, to_value(&self.shared.kept), durability)?;
        // The session's record will say that this one is on the disk for good.
        if durability == Durability::Synced && self.project_journal.holds() {
            self.project_journal.sync()?;
        }
        Ok(())
    }

    /// Tells the watch what a problem from here on would meet.
    fn note_stance(&self) {
        let modes = self.state.live_runs().map(|run| run.mode).chain(self.own.settings.mode);
        let modes = modes.chain(self.shared.remembered.map(|memory| memory.mode));
        known(self.watch, modes, !self.version().is_empty());
    }

    /// Remembers a run that is stricter than what is remembered, and that the project has sessions.
    fn remember(&mut self) -> Result<(), Problem> {
        let Some(memory) = self.shared.remembered else { return Ok(()) };
        let mode = if is_strict(&self.state) { Mode::Block } else { memory.mode };
        self.keep_in_mind(mode, true)
    }

    fn keep_in_mind(&mut self, mode: Mode, sessions: bool) -> Result<(), Problem> {
        let memory = Some(Remembered { mode, sessions });
        if self.shared.remembered != memory {
            self.shared.remembered = memory;
            self.project.remember(Remembered { mode, sessions })?;
        }
        Ok(())
    }
}

/// The problem, which says that it could not be recorded.
pub fn unrecorded(problem: &Problem, unsaved: &Problem) -> Problem {
    let text = format!("{}; this could not be recorded either: {}", problem.message, unsaved.message);
    Problem::new(problem.code, text)
}

/// Calls `step` until it has every fact it asks for.
pub fn settle(policy: &Policy, state: &State, event: &Event, root: &Path) -> Result<(Outcome, Facts), Problem> {
    let mut used = Facts::new();
    let phases: usize = policy.skills.iter().chain(&policy.earlier).map(|skill| skill.phases.len()).sum();
    for _ in 0..phases + 2 {
        let answer = step(policy, state, event, &used);
        if answer.needs.is_empty() {
            return Ok((answer, used));
        }
        facts::gather(root, &answer.needs, &mut used);
    }
    Err(Problem::new(Code::Internal, "the decision kept asking for facts"))
}

fn to_value(kept: &impl serde::Serialize) -> Value {
    serde_json::to_value(kept).unwrap_or_default()
}
