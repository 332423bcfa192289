//! The guard of a process that lives long: sessions stay loaded between events, and events that wait at the same time are
//! decided as a batch and made durable together (rules 8.8).
//!
//! Nothing is taken for granted that another process could have changed: the journals are locked for each batch, and a
//! file that is not as it was left is read again as a hook would. An answer goes out after its record was written, and
//! after it was made durable where it must be.

#[cfg(test)]
mod differential;
mod look;
#[cfg(test)]
mod tampered;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use phasegate_adapter::{Decoded, Problem, SessionView};
use phasegate_core::policy::Mode;
use phasegate_core::state::Status;
use phasegate_core::{Code, Event, EventKind, Outcome};

use crate::batch::{BatchProcessor, Input, PendingSync, Request};
use crate::own_writes::OwnWrites;
use crate::pending::{Pending, Unsaved};
use crate::small_files::{Root, SmallFiles};
use phasegate_runtime::deadline::{Deadline, broken};
use phasegate_runtime::frames::{self, Framed};
use phasegate_runtime::lineage::Origin;
use phasegate_runtime::other_projects;
use phasegate_runtime::policy_store::Current;
use phasegate_runtime::project::{Project, Remembered};
use phasegate_runtime::runtime::Runtime;
use phasegate_runtime::stance::{Stance, Watch};
use phasegate_runtime::transaction::halves::{self, Own, Shared};
use phasegate_runtime::transaction::{Transaction, first_look, known, loaded};
use phasegate_store::journal::{Journal, Rest};

/// The most sessions that stay loaded; those that were longest without an event go first. They are in their journals.
const MAX_LOADED_SESSIONS: usize = 1024;
/// How long a session without an event stays loaded at most, once others come.
const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// What discovery said, where it had to be asked, and what a frame stands for.
type Entered = (Option<Current>, Option<Result<Decoded, Problem>>);

/// A project and its sessions, as far as they are loaded.
#[derive(Debug)]
pub(crate) struct SessionCache {
    runtime: Arc<Runtime>,
    project: Project,
    small_files: SmallFiles,
    shared: Option<(Rest, Shared)>,
    sessions: BTreeMap<String, Idle>,
    batch: Option<Batch>,
    /// Whether somebody makes journals durable in the background; then which, how far.
    lazy: bool,
    pub(crate) to_sync: Vec<PendingSync>,
    /// The calls of other guards that were reported of, by session.
    reported: BTreeMap<String, BTreeSet<String>>,
    /// What is known of the project's journal to whoever looks for the host's session.
    ours: Arc<Mutex<OwnWrites>>,
}

/// A session between two batches.
#[derive(Debug)]
struct Idle {
    rest: Option<Rest>,
    own: Option<Own>,
    root: Root,
    /// When it was asked for last.
    used: Instant,
}

impl Default for Idle {
    fn default() -> Self {
        Self { rest: None, own: None, root: Root::default(), used: Instant::now() }
    }
}

/// What is locked, and the answers that wait until it is written.
#[derive(Debug)]
struct Batch {
    journal: Journal,
    shared: Shared,
    sessions: BTreeMap<String, Open>,
    answers: Vec<Pending>,
}

/// A session whose journal is locked.
#[derive(Debug)]
struct Open {
    journal: Journal,
    own: Own,
    root: Root,
    /// Whether everything around it was looked at since it was locked, and was in order.
    checked: bool,
}

impl Batch {
    /// Writes what is held back, and makes durable what must be.
    fn write(&mut self) -> Unsaved {
        let shared = self.journal.write_held(false).err().map(Problem::from);
        let mut sessions = BTreeMap::new();
        for (id, open) in &mut self.sessions {
            match open.journal.write_held(false) {
                Ok(()) => open.own.write_late(),
                Err(problem) => {
                    sessions.insert(id.clone(), problem.into());
                }
            }
        }
        Unsaved { shared, sessions }
    }
}

impl SessionCache {
    /// Nothing is loaded yet.
    pub(crate) fn new(runtime: Arc<Runtime>, project: Project) -> Self {
        let (small_files, sessions, to_sync, reported, ours) = Default::default();
        Self {
            runtime,
            project,
            small_files,
            shared: None,
            sessions,
            batch: None,
            lazy: false,
            to_sync,
            reported,
            ours,
        }
    }

    /// What this guard wrote to the project's journal, as it changes.
    pub(crate) fn ours(&self) -> Arc<Mutex<OwnWrites>> {
        Arc::clone(&self.ours)
    }

    /// The same, where somebody empties `to_sync` after each batch.
    pub(crate) fn lazy(self) -> Self {
        Self { lazy: true, ..self }
    }

    /// A journal was made durable.
    pub(crate) fn synced(&mut self, done: PendingSync) {
        let idle = self.sessions.get_mut(&done.session).and_then(|idle| idle.own.as_mut());
        let open =
            self.batch.as_mut().and_then(|batch| batch.sessions.get_mut(&done.session)).map(|open| &mut open.own);
        if let Some(own) = idle.or(open) {
            (own.durable, own.asked) = (Some((done.seq, done.head)), false);
        }
    }

    /// Decides an event; its answer waits for [`SessionCache::finish`]. The request comes back where a journal is locked and was
    /// not to be waited for.
    pub(crate) fn take(&mut self, request: Request, wait: bool) -> Result<(), Box<Request>> {
        if !self.keeps_to_itself(&request) {
            self.finish(None);
        }
        let watch = match &request.input {
            Input::Event(_) => Watch::default(),
            Input::Frame(framed) => framed.watch.clone(),
        };
        let deadline = if wait { request.deadline } else { Deadline::new(Duration::ZERO) };
        let entered = catch_unwind(AssertUnwindSafe(|| self.enter_for(&request, &deadline, &watch)));
        let entered = match entered.unwrap_or_else(|panic| Err(broken(panic.as_ref()))) {
            Ok(Some(entered)) => entered,
            refused => {
                self.take_found(&request.session);
                if self.batch.as_ref().is_some_and(|batch| batch.answers.is_empty()) {
                    self.finish(None);
                }
                match (refused, request.input) {
                    (Err(problem), input) if !wait && problem.code == Code::StateBusy => {
                        return Err(Box::new(Request { input, ..request }));
                    }
                    (Err(problem), _) => request.answer.send(Err(problem)),
                    (Ok(_), Input::Event(event)) => request.answer.send(Err(self.unguarded(*event))),
                    (Ok(_), Input::Frame(_)) => request.answer.send(Ok(None)),
                }
                return Ok(());
            }
        };
        if let Some(failed) = self.decide(request, &watch, entered) {
            // What is loaded may be ahead of what was written: it is read again.
            self.finish(Some(&failed));
        }
        Ok(())
    }

    /// As [`SessionCache::enter`]; and what a frame stands for. Where that looks at other sessions, those are written before.
    fn enter_for(&mut self, request: &Request, deadline: &Deadline, watch: &Watch) -> Result<Option<Entered>, Problem> {
        let Some(current) = self.enter(&request.session, deadline, watch)? else { return Ok(None) };
        let Input::Frame(framed) = &request.input else { return Ok(Some((current, None))) };
        self.note_stance(&request.session, watch);
        let (decoded, plain) = self.decoded(&request.session, framed).unzip();
        if plain == Some(true) || self.batch.as_ref().is_none_or(|batch| batch.answers.is_empty()) {
            return Ok(Some((current, decoded)));
        }
        let found = self.take_found(&request.session).unwrap_or_default();
        self.finish(None);
        let entered = self.enter(&request.session, deadline, watch)?;
        if let Some(open) = self.batch.as_mut().and_then(|batch| batch.sessions.get_mut(&request.session)) {
            open.journal.put_found(found);
        }
        self.note_stance(&request.session, watch);
        Ok(entered.map(|current| (current, self.decoded(&request.session, framed).map(|(decoded, _)| decoded))))
    }

    /// What the next record of the session was to say of how its journal was found.
    fn take_found(&mut self, session: &str) -> Option<(bool, u64)> {
        Some(self.batch.as_mut()?.sessions.get_mut(session)?.journal.take_found())
    }

    /// Tells the watch what a problem with a frame would meet, as a transaction does when it begins.
    fn note_stance(&self, session: &str, watch: &Watch) {
        let Some(batch) = &self.batch else { return };
        let Some(Open { journal, own, .. }) = batch.sessions.get(session) else { return };
        let shared = &batch.shared;
        let runs = shared.kept.project.runs.iter().chain(&own.state.runs);
        let live = runs.filter(|run| run.status == Status::Active).map(|run| run.mode);
        loaded(watch, shared.remembered);
        let modes = live.chain(own.settings.mode).chain(shared.remembered.map(|memory| memory.mode));
        known(watch, modes, !own.policy.version.is_empty() || !journal.policy().is_empty());
    }

    /// What a frame of a session that was entered stands for, and whether none of it looks at another session.
    fn decoded(&self, session: &str, framed: &Framed) -> Option<(Result<Decoded, Problem>, bool)> {
        let own = &self.batch.as_ref()?.sessions.get(session)?.own;
        let view = SessionView::new(&own.memory, Some(&own.state));
        let message = framed.opened.open(framed.adapter);
        let decoded = message.and_then(|message| framed.adapter.codec().decode(message, &view));
        let plain = own.state.events > 0 && decoded.iter().flat_map(|decoded| &decoded.events).all(is_plain);
        Some((decoded, plain))
    }

    /// Whether the event of a session that is under way looks at no other session: those must be written before. What a
    /// frame stands for is seen later.
    fn keeps_to_itself(&self, request: &Request) -> bool {
        let plain = match &request.input {
            Input::Event(event) => is_plain(event),
            Input::Frame(_) => true,
        };
        let open = |batch: &Batch| batch.sessions.contains_key(&request.session);
        plain && (self.sessions.contains_key(&request.session) || self.batch.as_ref().is_some_and(open))
    }

    /// What an event in a project means that nothing guards: other projects may be.
    fn unguarded(&self, event: Event) -> Problem {
        let text = format!("no config guards `{}`", self.project.root.display());
        let plain = || Problem::new(Code::PolicyMissing, text);
        other_projects::forbidden(&self.runtime, event, &self.project).unwrap_or_else(plain)
    }

    /// Decides what a session that was entered is asked. The session, where that failed.
    fn decide(&mut self, request: Request, watch: &Watch, (current, decoded): Entered) -> Option<String> {
        let Request { session, input, answer, .. } = request;
        let mut batch = self.batch.take()?;
        let Open { journal, own, root, checked } = batch.sessions.remove(&session)?;
        let before = batch.journal.seq();
        let runtime = Arc::clone(&self.runtime);
        let (journals, halves) = ((batch.journal, journal), (batch.shared, own));
        let mut transaction =
            Transaction::new((&runtime, watch), (self.project.clone(), &session), journals, halves, current);
        let decided = catch_unwind(AssertUnwindSafe(|| match (input, decoded) {
            (Input::Event(event), _) => steps(&mut transaction, *event),
            (Input::Frame(framed), Some(decoded)) => {
                frames::decide(&mut transaction, (framed.adapter, &framed.opened.frame), decoded)
            }
            (Input::Frame(_), None) => Err(Problem::new(Code::Internal, "the frame was not read")),
        }));
        let outcome = decided.unwrap_or_else(|panic| Err(broken(panic.as_ref()))).map(Some);
        let ((mut project_journal, mut journal), (shared, mut own)) = transaction.over();
        let _ = (project_journal.take_found(), journal.take_found());
        self.small_files.share(&runtime.store, &mut own);
        let failed = outcome.is_err().then(|| session.clone());
        batch.answers.push(Pending {
            shared: project_journal.seq() > before,
            session: session.clone(),
            answer,
            outcome,
        });
        (batch.journal, batch.shared) = (project_journal, shared);
        batch.sessions.insert(session, Open { journal, own, root, checked });
        self.batch = Some(batch);
        failed
    }

    /// Whether an answer waits for something that must be durable before.
    pub(crate) fn must_sync(&self) -> bool {
        let open = |batch: &Batch| {
            batch.journal.must_sync() || batch.sessions.values().any(|session| session.journal.must_sync())
        };
        self.batch.as_ref().is_some_and(open)
    }

    /// Whether this batch has opened the session already, so that everything around it was checked.
    fn is_open(&mut self, session: &str, watch: &Watch) -> bool {
        let Some(batch) = &mut self.batch else { return false };
        let Some(open) = batch.sessions.get_mut(session).filter(|open| open.checked) else { return false };
        open.own.looked();
        watch.set(match batch.shared.remembered {
            Some(Remembered { mode: Mode::Block, .. }) => Stance::Block,
            Some(_) | None => Stance::Unsure,
        });
        true
    }

    /// Locks and loads, as a transaction of a single event would. What discovery said, where it had to be asked; `None`:
    /// nothing guards the project, and nothing is locked that was not.
    fn enter(&mut self, session: &str, deadline: &Deadline, watch: &Watch) -> Result<Option<Option<Current>>, Problem> {
        if self.is_open(session, watch) {
            return Ok(Some(None));
        }
        let remembered = self.small_files.remembered(&self.project);
        let path = self.project.session_journal(session);
        let look = (&remembered, path.as_path());
        let Some(current) = first_look(&self.runtime, &self.project, look, watch)? else { return Ok(None) };
        let remembered = remembered?;
        self.project.check_folders(&self.runtime.locations.state)?;
        let batch = match &mut self.batch {
            Some(batch) => batch,
            None => {
                let (rest, known) = self.shared.take().unzip();
                let (journal, same) = Journal::open_again(&self.project.journal(), deadline, rest)?;
                self.ours.lock().unwrap_or_else(PoisonError::into_inner).foreign += u64::from(!same);
                let shared = match known.filter(|_| same) {
                    Some(shared) => shared,
                    None => Shared::of(&journal, remembered)?,
                };
                let (sessions, answers) = (BTreeMap::new(), Vec::new());
                self.batch.insert(Batch { journal, shared, sessions, answers })
            }
        };
        batch.shared.remembered = remembered;
        let mut open = match batch.sessions.remove(session) {
            Some(open) => open,
            None => {
                let idle = self.sessions.remove(session).unwrap_or_default();
                let (journal, same) = Journal::open_again(&path, deadline, idle.rest)?;
                let own = match idle.own.filter(|_| same) {
                    Some(own) => own,
                    None => Own::of(&journal)?,
                };
                Open { journal, own, root: idle.root, checked: false }
            }
        };
        open.own.lazy = self.lazy;
        self.small_files.policy_of(&self.runtime.store, &open.journal, &mut open.own);
        let Open { journal, own, root, .. } = &mut open;
        let root = RefCell::new(root);
        let kept = || root.borrow_mut().get(&self.runtime.locations, session);
        let checked = halves::check((&self.project, session), (&batch.journal, journal), (&batch.shared, own), &kept);
        open.checked = checked.is_ok();
        batch.sessions.insert(session.to_string(), open);
        checked.map(|()| Some(current))
    }

    /// Writes what is held back, makes durable what must be, gives the locks back, and then the answers. What was loaded
    /// of the session with this id, and of the project, is dropped.
    pub(crate) fn finish(&mut self, forget: Option<&str>) {
        let Some(batch) = &mut self.batch else { return };
        let unsaved = batch.write();
        let answers = std::mem::take(&mut batch.answers);
        self.collect_syncs();
        self.close(forget, &unsaved);
        unsaved.send(answers);
    }

    /// Notes whose journals are to be made durable in the background.
    fn collect_syncs(&mut self) {
        let Some(batch) = &mut self.batch else { return };
        for (id, Open { journal, own, .. }) in &mut batch.sessions {
            if std::mem::take(&mut own.wants_sync) && !std::mem::replace(&mut own.asked, true) {
                let (session, path) = (id.clone(), self.project.session_journal(id));
                self.to_sync.push(PendingSync { session, path, seq: journal.seq(), head: journal.head() });
            }
        }
    }

    /// Gives the locks back. What is loaded stays so, but for the session with this id and the project, and for what could
    /// not be written.
    fn close(&mut self, forget: Option<&str>, unsaved: &Unsaved) {
        let Some(Batch { journal, shared, sessions, .. }) = self.batch.take() else { return };
        if unsaved.shared.is_none() && forget.is_none() {
            self.shared = journal.rest().map(|rest| (rest, shared));
            let mark = self.shared.as_ref().map(|(rest, _)| rest.mark());
            self.ours.lock().unwrap_or_else(PoisonError::into_inner).mark = mark;
        }
        for (id, Open { journal, own, root, .. }) in sessions {
            if forget != Some(id.as_str()) && !unsaved.sessions.contains_key(&id) {
                self.sessions.insert(id, Idle { rest: journal.rest(), own: Some(own), root, used: Instant::now() });
            }
        }
        self.make_room();
    }

    /// Whether a journal is one of this project's sessions.
    pub(crate) fn has(&self, sync: &PendingSync) -> bool {
        sync.path.starts_with(&self.project.folder)
    }

    /// Drops everything that is loaded.
    pub(crate) fn forget(&mut self) {
        (self.shared, self.batch) = (None, None);
        self.sessions.clear();
    }

    /// Drops the sessions that were longest without an event, where too many are loaded.
    fn make_room(&mut self) {
        if self.sessions.len() <= MAX_LOADED_SESSIONS {
            return;
        }
        let mut used: Vec<Instant> = self.sessions.values().map(|idle| idle.used).collect();
        used.sort_unstable();
        let oldest = used.get(MAX_LOADED_SESSIONS / 4).copied();
        self.sessions
            .retain(|_, idle| oldest.is_none_or(|oldest| idle.used > oldest) && idle.used.elapsed() < MAX_IDLE);
    }
}

impl BatchProcessor for SessionCache {
    fn take(&mut self, request: Request, wait: bool) -> Result<(), Box<Request>> {
        Self::take(self, request, wait)
    }

    fn must_sync(&self) -> bool {
        Self::must_sync(self)
    }

    fn finish(&mut self) {
        Self::finish(self, None);
    }

    fn forget(&mut self) {
        Self::forget(self);
    }

    fn to_sync(&mut self) -> Vec<PendingSync> {
        std::mem::take(&mut self.to_sync)
    }

    fn synced(&mut self, done: PendingSync) {
        Self::synced(self, done);
    }
}

/// Whether an event looks at no other session than its own.
fn is_plain(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::ToolCall { .. }
            | EventKind::ToolResult { .. }
            | EventKind::Permission { .. }
            | EventKind::BatchEnd {}
            | EventKind::Message { .. }
            | EventKind::Skill { .. }
            | EventKind::SubagentStart { .. }
            | EventKind::SubagentStop { .. }
            | EventKind::Stop {}
            | EventKind::Idle {}
    )
}

/// The steps of an event that no frame brought.
fn steps(transaction: &mut Transaction<'_>, event: Event) -> Result<Vec<Outcome>, Problem> {
    let events = transaction.begun(&Origin::default(), vec![event])?;
    events.into_iter().map(|event| transaction.decide(event)).collect()
}
