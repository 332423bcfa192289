//! One transaction: lock, load, step, append, make durable (rules 8).

use std::path::{Path, PathBuf};

use phasegate_adapter::{Memory, Problem};
use phasegate_core::event::SessionSource;
use phasegate_core::policy::{Mode, Policy};
use phasegate_core::{Code, Event, EventKind, Facts, State, Step, spoken, state, step};
use serde_json::{Value, json};

use crate::ancestors::Process;
use crate::deadline::Deadline;
use crate::journal::redact::{digest_of, shorten_event, shortened};
use crate::journal::{Durability, Entry, Journal};
use crate::kept::{Anchor, KeptProject, KeptSession, from_state, matters};
use crate::policy_store::{Current, KeptSettings, summary};
use crate::project::{Project, Remembered, session_key};
use crate::reading::Shell;
use crate::runtime::Runtime;
use crate::sessions::{is_strict, may_be_strict};
use crate::stance::{Stance, Watch};
use crate::witness::{self, Witnesses};
use crate::{audit, facts, place, reading};

/// A session's anchor in the project journal is renewed after so many of its records.
const ANCHOR_EVERY: u64 = 16;

/// Both journals of a session, locked, and all that a decision depends on.
pub(crate) struct Transaction<'a> {
    pub(crate) runtime: &'a Runtime,
    watch: &'a Watch,
    pub(crate) project: Project,
    remembered: Option<Remembered>,
    pub(crate) session: String,
    project_journal: Journal,
    session_journal: Journal,
    kept_project: KeptProject,
    settings: KeptSettings,
    /// The digest of the stored policy that the session goes by.
    policy_digest: String,
    /// Whether the last record is still to be anchored.
    anchor_due: bool,
    /// Whether what was known of the session may be lost: it is denied until it starts anew.
    lost: bool,
    /// Whether it is kept which project the session began in.
    rooted: bool,
    /// Whether the configs of now were looked for and cannot be used: the next event looks again.
    without_policy: bool,
    /// Why the platform's settings did not start the guard when the session began; `None`: they did, or nobody looked.
    pub(crate) unwired: Option<String>,
    /// What the adapter remembers; kept with the next record.
    pub(crate) memory: Memory,
    /// The client's processes that have served the session.
    pub(crate) clients: Vec<Process>,
    /// The state as it was loaded, or is after the last event.
    pub(crate) state: State,
    /// The policy in use; its version is empty until one was found.
    policy: Policy,
    /// What discovery said before the journals were opened.
    current: Option<Current>,
}

impl<'a> Transaction<'a> {
    /// Locks and loads. `None`: nothing guards the project and nothing ever did; the disk was not touched.
    pub(crate) fn open(
        runtime: &'a Runtime,
        project: Project,
        session: &str,
        (deadline, watch): (&Deadline, &'a Watch),
    ) -> Result<Option<Self>, Problem> {
        let remembered = project.remembered();
        let path = project.session_journal(session);
        let Some(current) = first_look(runtime, &project, (&remembered, &path), watch)? else { return Ok(None) };
        let remembered = remembered?;
        place::check_folders(&runtime.locations.state, &project)?;
        let project_journal = Journal::open(&project.journal(), deadline)?;
        let session_journal = Journal::open(&path, deadline)?;
        let kept_project: KeptProject = from_state(project_journal.state())?;
        let kept_session: KeptSession = from_state(session_journal.state())?;
        let witnesses = Witnesses {
            locations: &runtime.locations,
            project: &project,
            remembered,
            session,
            journals: (&project_journal, &session_journal),
            kept: (&kept_project, &kept_session),
        };
        let presence = witnesses.check()?;
        let state = State { session: kept_session.session, project: kept_project.project.clone() };
        let transaction = Self {
            runtime,
            watch,
            project,
            remembered,
            session: session.to_string(),
            project_journal,
            session_journal,
            kept_project,
            settings: kept_session.settings,
            policy_digest: kept_session.policy_digest,
            anchor_due: kept_session.anchor_due,
            lost: presence.lost,
            rooted: presence.rooted,
            without_policy: false,
            unwired: kept_session.unwired,
            memory: kept_session.memory,
            clients: kept_session.clients,
            state,
            policy: Policy::default(),
            current,
        };
        if watch.get() == Stance::Unsure {
            watch.set(transaction.remembered.map_or(Stance::Unknown, |memory| memory.mode.into()));
        }
        transaction.note_stance();
        Ok(Some(transaction))
    }

    /// Decides one event and records it.
    pub(crate) fn decide(&mut self, mut event: Event) -> Result<Step, Problem> {
        event.time.get_or_insert_with(self.runtime.now);
        if event.session.is_empty() {
            event.session.clone_from(&self.session);
        }
        if let Err(problem) = self.choose_policy(&event) {
            return Err(self.note_problem(event.to_value(), problem));
        }
        let (root, logs) = (&self.project.root, self.audit_logs());
        let protected = || self.runtime.protected(Some(root)).with_logs(&logs);
        // Only a record knows what was left out of it.
        if let EventKind::ToolCall { reading, .. } = &mut event.kind {
            reading.shortened = None;
            reading.open = false;
        }
        reading::complete(&mut event, root, &Shell::of(&self.settings), &protected);
        if let EventKind::Join { runs, .. } = &event.kind {
            let session = state::Session { runs: runs.clone(), ..state::Session::default() };
            let joined = State { session, ..State::default() };
            self.policy = self.runtime.store.with_earlier(std::mem::take(&mut self.policy), &joined)?;
        }
        let (answer, used) = settle(&self.policy, &self.state, &event, &self.project.root)?;
        self.record(&event, &answer, used)?;
        self.state = answer.state.clone();
        self.note_stance();
        self.remember()?;
        Ok(answer)
    }

    /// Records that a frame or event could not be decided; the problem, which says so if even that failed.
    pub(crate) fn note_problem(&mut self, event: Value, problem: Problem) -> Problem {
        let policy = if self.without_policy { String::new() } else { self.version() };
        let mut entry = Entry {
            time: (self.runtime.now)(),
            engine: env!("CARGO_PKG_VERSION"),
            policy,
            event,
            problem: Some(json!({"code": problem.code, "message": problem.message})),
            project_seq: Some(self.project_journal.seq()),
            ..Entry::default()
        };
        shorten_event(&mut entry.event, &self.settings.redact);
        let state = self.session_value(&self.state, self.anchor_due);
        let saved = self.announce().and_then(|()| self.save(&entry, state, Durability::Written));
        match saved {
            Ok(()) => problem,
            Err(unsaved) => Problem::new(
                problem.code,
                format!("{}; this could not be recorded either: {}", problem.message, unsaved.message),
            ),
        }
    }

    /// Records what the adapter remembers of a frame that stands for no event.
    pub(crate) fn note_memory(&mut self, frame: &[u8], memory: Memory) -> Result<(), Problem> {
        if self.memory == memory {
            return Ok(());
        }
        self.memory = memory;
        let entry = Entry {
            time: (self.runtime.now)(),
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.version(),
            event: json!({"frame": digest_of(frame)}),
            ..Entry::default()
        };
        let state = self.session_value(&self.state, self.anchor_due);
        self.announce()?;
        self.save(&entry, state, Durability::Written)
    }

    /// Appends to the session's journal. Where the session began is kept once it has a record, so that a journal that is
    /// gone is missed.
    fn save(&mut self, entry: &Entry, state: Value, durability: Durability) -> Result<(), Problem> {
        self.session_journal.append(entry, state, durability)?;
        if !self.rooted {
            self.project.keep_session(&self.runtime.locations, &self.session)?;
            self.rooted = true;
        }
        Ok(())
    }

    /// Tells the project's journal of a session that is about to get its first record.
    fn announce(&mut self) -> Result<(), Problem> {
        if self.session_journal.seq() > 0 {
            return Ok(());
        }
        let event = json!({"event": "session", "session": self.session});
        self.save_project(event, (self.runtime.now)(), Durability::Synced)
    }

    /// Records that a frame could not be read.
    pub(crate) fn note_unreadable(&mut self, frame: &[u8], problem: Problem) -> Problem {
        self.note_problem(json!({"frame": digest_of(frame)}), problem)
    }

    /// The policy version of the last record, or of the policy in use.
    fn version(&self) -> String {
        let known = &self.policy.version;
        if known.is_empty() { self.session_journal.policy().to_string() } else { known.clone() }
    }

    /// A live session keeps its policy; a session that starts, or that a person reloads, gets what the configs say now.
    fn choose_policy(&mut self, event: &Event) -> Result<(), Problem> {
        let starts = matches!(event.kind, EventKind::SessionStart { source, .. } if source != SessionSource::Compact);
        let reloads = spoken::reloads(event);
        let version = self.version();
        if !starts && !reloads && !version.is_empty() {
            if self.policy.version != version {
                self.policy = self.runtime.store.load(&version, &self.policy_digest, &self.state)?;
            }
            return Ok(());
        }
        let current = match self.current.take() {
            Some(current) => current,
            None => self.runtime.current(&self.project)?,
        };
        // A reload that fails leaves the session with the policy it has.
        self.without_policy = !reloads;
        let strict = matches!(&current, Current::Ready(ready) if ready.strictest() == Mode::Block);
        // A session that goes on does not begin anew, so what is lost of it stays lost.
        let anew = starts && !matches!(event.kind, EventKind::SessionStart { source: SessionSource::Resume, .. });
        self.lost &= !anew && !reloads;
        self.use_current(current)?;
        self.lost &= strict;
        if self.lost {
            self.kept_project.lost = true;
            return Err(witness::lost(&self.session));
        }
        self.without_policy = false;
        Ok(())
    }

    /// From now on the session goes by what the configs say.
    fn use_current(&mut self, current: Current) -> Result<(), Problem> {
        match current {
            Current::Ready(ready)
                if ready.is_void() && self.remembered.is_some_and(|memory| memory.mode == Mode::Block) =>
            {
                let root = self.project.root.display();
                Err(Problem::new(
                    Code::PolicyMissing,
                    format!("`{root}` was guarded, and its config says nothing any more"),
                ))
            }
            Current::Ready(ready) => {
                self.policy = self.runtime.store.with_earlier(ready.policy.clone(), &self.state)?;
                self.settings = ready.settings.clone();
                self.policy_digest.clone_from(&ready.digest);
                if ready.own {
                    let strict = ready.strictest() == Mode::Block || self.stays_strict();
                    let mode = if strict { Mode::Block } else { Mode::Warn };
                    self.keep_in_mind(mode, self.remembered.is_some_and(|memory| memory.sessions))?;
                }
                self.watch.set(ready.strictest().into());
                self.note_stance();
                Ok(())
            }
            Current::Unguarded if self.remembered.is_some() => {
                let root = self.project.root.display();
                Err(Problem::new(Code::PolicyMissing, format!("`{root}` was guarded and has no config any more")))
            }
            Current::Unguarded => {
                self.policy = self.runtime.store.with_earlier(Policy::default(), &self.state)?;
                Ok(())
            }
            Current::Invalid { mode, unclear, ref diagnostics } => {
                if unclear || mode == Some(Mode::Block) {
                    self.watch.set(stance_of(&current));
                }
                Err(Problem::new(Code::PolicyInvalid, summary(diagnostics)))
            }
        }
    }

    /// Appends what an event led to: to the project's journal where that is due, then to the session's.
    fn record(&mut self, event: &Event, answer: &Step, used: Facts) -> Result<(), Problem> {
        let matters = matters(&self.state, &answer.state);
        let durability = if matters { Durability::Synced } else { Durability::Written };
        let time = event.time.unwrap_or_default();
        self.record_project(event, answer, time)?;
        let value = shortened(event, &self.policy, &self.settings.redact);
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.policy.version.clone(),
            event: value,
            facts: used,
            decision: answer.decision.clone(),
            records: answer.records.clone(),
            problem: None,
            project_seq: Some(self.project_journal.seq()),
        };
        let state = self.session_value(&answer.state, matters);
        self.save(&entry, state, durability)?;
        self.anchor_due = matters;
        let place = audit::line::Place {
            time,
            session: &self.session,
            seq: Some(self.session_journal.seq()),
            policy: &self.policy.version,
            agent: event.subagent(),
        };
        for path in self.audit_logs() {
            audit::log::append(&path, &place, &answer.records);
        }
        Ok(())
    }

    fn audit_logs(&self) -> Vec<PathBuf> {
        audit::log::paths(self.runtime, &self.project.root, &self.settings)
    }

    fn record_project(&mut self, event: &Event, answer: &Step, time: i64) -> Result<(), Problem> {
        let key = session_key(&self.session);
        let seq = self.session_journal.seq();
        let anchored = self.kept_project.sessions.get(&key).map_or(0, |anchor| anchor.seq);
        let anchor_due = seq == 0 || self.anchor_due || anchored == 0 || seq >= anchored + ANCHOR_EVERY;
        let turns = matches!(event.kind, EventKind::SessionStart { .. } | EventKind::SessionEnd {});
        let changed = self.kept_project.project != answer.state.project;
        if !(anchor_due || turns || changed) {
            return Ok(());
        }
        // What is noted of the session must not be ahead of what a crash leaves of it.
        if seq > 0 && !self.anchor_due {
            self.session_journal.sync()?;
        }
        self.kept_project.project = answer.state.project.clone();
        let durability = if changed || seq == 0 { Durability::Synced } else { Durability::Written };
        self.save_project(json!({"event": event.name(), "session": self.session}), time, durability)
    }

    /// Appends to the project's journal, with how far that of the session has come.
    fn save_project(&mut self, event: Value, time: i64, durability: Durability) -> Result<(), Problem> {
        let (seq, head) = (self.session_journal.seq(), self.session_journal.head());
        self.kept_project.anchor(&session_key(&self.session), Anchor { seq, head, time });
        self.kept_project.guarded |= self.remembered.is_some();
        if durability == Durability::Synced {
            self.kept_project.synced = self.project_journal.seq() + 1;
        }
        let entry = Entry {
            time,
            engine: env!("CARGO_PKG_VERSION"),
            policy: self.policy.version.clone(),
            event,
            ..Entry::default()
        };
        self.project_journal.append(&entry, to_value(&self.kept_project), durability)
    }

    fn session_value(&self, state: &State, anchor_due: bool) -> Value {
        to_value(&KeptSession {
            session: state.session.clone(),
            memory: self.memory.clone(),
            clients: self.clients.clone(),
            settings: self.settings.clone(),
            policy_digest: self.policy_digest.clone(),
            unwired: self.unwired.clone(),
            anchor_due,
            project: self.kept_project.synced,
            lost: self.lost,
        })
    }

    /// Tells the watch what a problem from here on would meet.
    fn note_stance(&self) {
        let modes = self.state.live_runs().map(|run| run.mode).chain(self.settings.mode);
        if modes.chain(self.remembered.map(|memory| memory.mode)).any(|mode| mode == Mode::Block) {
            self.watch.set(Stance::Block);
        } else if matches!(self.watch.get(), Stance::Unknown | Stance::Unguarded) && !self.version().is_empty() {
            self.watch.set(Stance::Warn);
        }
    }

    /// Whether block mode must stay remembered whatever the configs say: a run in block mode is live in some session of
    /// the project, or a session cannot be read and may have one.
    fn stays_strict(&self) -> bool {
        is_strict(&self.state)
            || (self.remembered.is_some_and(|memory| memory.mode == Mode::Block) && may_be_strict(&self.project))
    }

    /// Remembers a run that is stricter than what is remembered, and that the project has sessions.
    fn remember(&mut self) -> Result<(), Problem> {
        let Some(memory) = self.remembered else { return Ok(()) };
        let mode = if is_strict(&self.state) { Mode::Block } else { memory.mode };
        self.keep_in_mind(mode, true)
    }

    fn keep_in_mind(&mut self, mode: Mode, sessions: bool) -> Result<(), Problem> {
        let memory = Some(Remembered { mode, sessions });
        if self.remembered != memory {
            self.remembered = memory;
            self.project.remember(Remembered { mode, sessions })?;
        }
        Ok(())
    }
}

/// Notes what a problem would meet as long as nothing is read. `None`: nothing guards the project and nothing ever did;
/// else what discovery says, where it had to be asked.
fn first_look(
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
            watch.set(stance_of(&found));
            return Ok(Some(found).filter(|found| !matches!(found, Current::Unguarded)).map(Some));
        }
        Err(_) => Stance::Unknown,
    };
    watch.set(stance);
    Ok(Some(None))
}

/// Calls `step` until it has every fact it asks for.
pub(crate) fn settle(policy: &Policy, state: &State, event: &Event, root: &Path) -> Result<(Step, Facts), Problem> {
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

/// How a problem is answered while configs mean this.
pub(crate) fn stance_of(current: &Current) -> Stance {
    match current {
        Current::Unguarded => Stance::Unguarded,
        Current::Ready(ready) => ready.strictest().into(),
        Current::Invalid { mode: Some(Mode::Block), .. } => Stance::Block,
        Current::Invalid { unclear: true, .. } => Stance::Unsure,
        Current::Invalid { mode, .. } => mode.map_or(Stance::Unknown, Stance::from),
    }
}

fn to_value(kept: &impl serde::Serialize) -> Value {
    serde_json::to_value(kept).unwrap_or_default()
}
