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

use phasegate_adapter::{Decoded, Problem, Refusal};
use phasegate_core::{Code, Event, EventKind};
use phasegate_runtime::clients::serving;
use phasegate_runtime::deadline::{Deadline, broken};
use phasegate_runtime::driver::frames::{self, Framed};
use phasegate_runtime::driver::{Driver, Loaded};
use phasegate_runtime::processes::ancestors::Process;
use phasegate_runtime::project::Project;
use phasegate_runtime::project::first_look::{FirstLook, first_look};
use phasegate_runtime::project::other_projects;
use phasegate_runtime::runtime::Runtime;
use phasegate_runtime::sessions::integrity::repairable;
use phasegate_runtime::sessions::loaded::{LoadedProject, LoadedSession, SyncedRecord};
use phasegate_store::journal::{Finding, Journal, Rest};

use crate::batch::{BatchProcessor, Input, PendingSync, Request};
use crate::own_writes::OwnWrites;
use crate::pending::{Pending, Unsaved};
use crate::small_files::{Root, SmallFiles};

/// The most sessions that stay loaded; those that were longest without an event go first. They are in their journals.
const MAX_LOADED_SESSIONS: usize = 1024;
/// How long a session without an event stays loaded at most, once others come.
const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// A session that was entered.
struct Entered {
    /// What was known before its journals were opened.
    look: FirstLook,
    /// What the frame stands for, if a frame is to be decided.
    decoded: Option<Result<Decoded, Problem>>,
}

/// What a frame of a loaded session stands for.
struct Read {
    decoded: Result<Decoded, Problem>,
    /// Whether none of its events looks at another session.
    is_plain: bool,
}

/// A project and its sessions, as far as they are loaded.
#[derive(Debug)]
pub(crate) struct SessionCache {
    runtime: Arc<Runtime>,
    project: Project,
    small_files: SmallFiles,
    shared: Option<IdleProject>,
    sessions: BTreeMap<String, Idle>,
    batch: Option<Batch>,
    /// Whether a background thread syncs journals; if so, which ones and up to which record.
    lazy: bool,
    pub(crate) to_sync: Vec<PendingSync>,
    /// The calls of other guards that were reported of, by session.
    reported: BTreeMap<String, BTreeSet<String>>,
    /// The process that sessions note as their guard, where the system shows it.
    process: Option<Process>,
    /// What this guard wrote to the project's journal, for the search of the host's session.
    ours: Arc<Mutex<OwnWrites>>,
}

/// The project between two batches.
#[derive(Debug)]
struct IdleProject {
    rest: Rest,
    shared: LoadedProject,
}

/// A session between two batches.
#[derive(Debug)]
struct Idle {
    rest: Option<Rest>,
    own: Option<LoadedSession>,
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
    shared: LoadedProject,
    sessions: BTreeMap<String, Open>,
    answers: Vec<Pending>,
}

/// A session whose journal is locked.
#[derive(Debug)]
struct Open {
    journal: Journal,
    own: LoadedSession,
    root: Root,
    /// Whether everything around it was looked at since it was locked, and was in order.
    checked: bool,
}

impl Batch {
    /// Writes what is held back, and makes durable what must be.
    fn write(&mut self) -> Unsaved {
        let shared = self.journal.write(false).err().map(Problem::from);
        let mut sessions = BTreeMap::new();
        for (id, open) in &mut self.sessions {
            match open.journal.write(false) {
                Ok(()) => open.own.write_audit_lines(),
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
            process: None,
            ours,
        }
    }

    /// What this guard wrote to the project's journal, as it changes.
    pub(crate) fn ours(&self) -> Arc<Mutex<OwnWrites>> {
        Arc::clone(&self.ours)
    }

    /// The same, with events of a guard in this process: each session notes it.
    pub(crate) fn serving(self, process: Option<Process>) -> Self {
        Self { process, ..self }
    }

    /// The same, with a caller that empties `to_sync` after each batch.
    pub(crate) fn lazy(self) -> Self {
        Self { lazy: true, ..self }
    }

    /// A journal was made durable.
    pub(crate) fn synced(&mut self, done: PendingSync) {
        let idle = self.sessions.get_mut(&done.session).and_then(|idle| idle.own.as_mut());
        let open =
            self.batch.as_mut().and_then(|batch| batch.sessions.get_mut(&done.session)).map(|open| &mut open.own);
        if let Some(own) = idle.or(open) {
            own.synced = Some(SyncedRecord { seq: done.seq, head: done.head });
            own.sync_asked = false;
        }
    }

    /// Decides an event; its answer waits for [`SessionCache::finish`]. The request comes back where a journal is locked and was
    /// not to be waited for.
    pub(crate) fn take(&mut self, request: Request, wait: bool) -> Result<(), Box<Request>> {
        if !self.keeps_to_itself(&request) {
            self.finish(None);
        }
        let deadline = if wait { request.deadline } else { Deadline::new(Duration::ZERO) };
        let entered = catch_unwind(AssertUnwindSafe(|| self.enter_for(&request, &deadline)));
        let entered =
            entered.unwrap_or_else(|panic| Err(self.runtime.refuse(&self.project, None, broken(panic.as_ref()))));
        let entered = match entered {
            Ok(Some(entered)) => entered,
            refused => {
                self.take_finding(&request.session);
                if self.batch.as_ref().is_some_and(|batch| batch.answers.is_empty()) {
                    self.finish(None);
                }
                match (refused, request.input) {
                    (Err(refusal), input) if !wait && refusal.problem.code == Code::StateBusy => {
                        return Err(Box::new(Request { input, ..request }));
                    }
                    (Err(refusal), _) => request.answer.send(Err(refusal)),
                    (Ok(_), Input::Event(event)) => {
                        request.answer.send(Err(Refusal::closed(self.unguarded(*event))));
                    }
                    (Ok(_), Input::Frame(_)) => request.answer.send(Ok(None)),
                }
                return Ok(());
            }
        };
        if let Some(failed) = self.decide(request, entered) {
            // What is loaded may be ahead of what was written: it is read again.
            self.finish(Some(&failed));
        }
        Ok(())
    }

    /// As [`SessionCache::enter`]; and what a frame stands for. Where that looks at other sessions, those are written first.
    fn enter_for(&mut self, request: &Request, deadline: &Deadline) -> Result<Option<Entered>, Refusal> {
        let Some(look) = self.enter(&request.session, deadline)? else { return Ok(None) };
        let Input::Frame(framed) = &request.input else { return Ok(Some(Entered { look, decoded: None })) };
        let read = self.read(&request.session, framed);
        let is_plain = read.as_ref().is_some_and(|read| read.is_plain);
        if is_plain || self.batch.as_ref().is_none_or(|batch| batch.answers.is_empty()) {
            return Ok(Some(Entered { look, decoded: read.map(|read| read.decoded) }));
        }
        let finding = self.take_finding(&request.session).unwrap_or_default();
        self.finish(None);
        let Some(look) = self.enter(&request.session, deadline)? else { return Ok(None) };
        if let Some(open) = self.batch.as_mut().and_then(|batch| batch.sessions.get_mut(&request.session)) {
            open.journal.put_finding(finding);
        }
        let decoded = self.read(&request.session, framed).map(|read| read.decoded);
        Ok(Some(Entered { look, decoded }))
    }

    /// What the next record of the session was to say of how its journal was found.
    fn take_finding(&mut self, session: &str) -> Option<Finding> {
        Some(self.batch.as_mut()?.sessions.get_mut(session)?.journal.take_finding())
    }

    /// What a frame of a session that was entered stands for.
    fn read(&self, session: &str, framed: &Framed) -> Option<Read> {
        let kept = &self.batch.as_ref()?.sessions.get(session)?.own.snapshot;
        let message = framed.opened.open(framed.adapter);
        let decoded = message.and_then(|message| frames::decode(framed.adapter, message, &kept.memory, &kept.session));
        let is_plain = kept.session.events > 0 && decoded.iter().flat_map(|decoded| &decoded.events).all(is_plain);
        Some(Read { decoded, is_plain })
    }

    /// Whether an event of a live session needs no other session, because other sessions must be written before. The
    /// events of a frame are known later.
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
    fn decide(&mut self, request: Request, entered: Entered) -> Option<String> {
        let Request { session, input, answer, .. } = request;
        let Batch { journal: project_journal, shared, mut sessions, mut answers } = self.batch.take()?;
        let Open { journal: session_journal, own, root, checked } = sessions.remove(&session)?;
        let before = project_journal.seq();
        let runtime = Arc::clone(&self.runtime);
        let loaded = Loaded { project_journal, session_journal, shared, own };
        let Entered { look, decoded } = entered;
        let store = runtime.store.as_ref();
        let mut driver = Driver::new(&runtime, store, self.project.clone(), &session, loaded, look);
        let decided = catch_unwind(AssertUnwindSafe(|| match (input, decoded) {
            (Input::Event(event), _) => serving::decide(&mut driver, self.process, *event),
            (Input::Frame(framed), Some(decoded)) => {
                frames::decide(&mut driver, framed.adapter, &framed.opened, decoded)
            }
            (Input::Frame(_), None) => Err(Problem::new(Code::Internal, "the frame was not read")),
        }));
        let outcomes = decided.unwrap_or_else(|panic| Err(broken(panic.as_ref()))).map(Some);
        let known = driver.failure_mode();
        let Loaded { mut project_journal, mut session_journal, shared, mut own } = driver.over();
        let _ = (project_journal.take_finding(), session_journal.take_finding());
        self.small_files.share(&runtime.policies, &mut own);
        let failed = outcomes.is_err().then(|| session.clone());
        let shared_too = project_journal.seq() > before;
        answers.push(Pending { session: session.clone(), shared: shared_too, answer, outcomes, known });
        sessions.insert(session, Open { journal: session_journal, own, root, checked });
        self.batch = Some(Batch { journal: project_journal, shared, sessions, answers });
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
    fn is_open(&mut self, session: &str) -> bool {
        let open = self.batch.as_mut().and_then(|batch| batch.sessions.get_mut(session));
        let Some(open) = open.filter(|open| open.checked) else { return false };
        open.own.without_policy = false;
        true
    }

    /// Locks and loads, as the driver of a single event would. `None`: nothing guards the project, and nothing is locked
    /// that was not.
    fn enter(&mut self, session: &str, deadline: &Deadline) -> Result<Option<FirstLook>, Refusal> {
        if self.is_open(session) {
            return Ok(Some(FirstLook::default()));
        }
        let remembered = self.small_files.remembered(&self.project);
        let path = self.project.session_journal(session);
        let Some(look) = first_look(&self.runtime, &self.project, &remembered, &path)? else { return Ok(None) };
        let loaded = remembered.clone().and_then(|remembered| {
            if self.batch.is_none() {
                self.project.check_folders(&self.runtime.locations.state)?;
            }
            self.lock_project(deadline)?;
            if let Some(batch) = &mut self.batch {
                batch.shared.remembered = remembered;
            }
            self.lock_session(session, deadline)
        });
        let loaded = loaded.map_err(|problem| repairable(problem, session));
        let unopened = || look.unopened(&self.project, remembered.as_ref().copied(), session);
        loaded.map_err(|problem| self.runtime.refuse(&self.project, unopened(), problem))?;
        Ok(Some(look))
    }

    /// Locks the project's journal, unless this batch has, and loads what changed.
    fn lock_project(&mut self, deadline: &Deadline) -> Result<(), Problem> {
        if self.batch.is_some() {
            return Ok(());
        }
        let (rest, known) = self.shared.take().map(|idle| (idle.rest, idle.shared)).unzip();
        let store = self.runtime.store.as_ref();
        let (journal, changed) = Journal::reopen(store, &self.project.journal(), deadline, rest)?;
        self.ours.lock().unwrap_or_else(PoisonError::into_inner).foreign += u64::from(changed.is_some());
        let fresh = || LoadedProject::default();
        let shared = match changed {
            Some(snapshot) => LoadedProject { snapshot, ..fresh() },
            None => known.unwrap_or_else(fresh),
        };
        let (sessions, answers) = (BTreeMap::new(), Vec::new());
        self.batch = Some(Batch { journal, shared, sessions, answers });
        Ok(())
    }

    /// Locks the session's journal, unless this batch has, loads what changed, and checks what is around it.
    fn lock_session(&mut self, session: &str, deadline: &Deadline) -> Result<(), Problem> {
        let Some(mut batch) = self.batch.take() else { return Ok(()) };
        let Open { journal, own, mut root, .. } = match self.locked(&mut batch, session, deadline) {
            Ok(open) => open,
            Err(problem) => {
                self.batch = Some(batch);
                return Err(problem);
            }
        };
        let Batch { journal: project_journal, shared, mut sessions, answers } = batch;
        let mut loaded = Loaded { project_journal, session_journal: journal, shared, own };
        let checked = {
            let root = RefCell::new(&mut root);
            let kept = || root.borrow_mut().get(&self.runtime.locations, session);
            loaded.check(&self.project, session, &kept)
        };
        let Loaded { project_journal, session_journal, shared, own } = loaded;
        let open = Open { journal: session_journal, own, root, checked: checked.is_ok() };
        sessions.insert(session.to_string(), open);
        self.batch = Some(Batch { journal: project_journal, shared, sessions, answers });
        checked
    }

    fn locked(&mut self, batch: &mut Batch, session: &str, deadline: &Deadline) -> Result<Open, Problem> {
        let mut open = match batch.sessions.remove(session) {
            Some(open) => open,
            None => {
                let idle = self.sessions.remove(session).unwrap_or_default();
                let path = self.project.session_journal(session);
                let rest = idle.rest.filter(|_| idle.own.is_some());
                let (journal, changed) = Journal::reopen(self.runtime.store.as_ref(), &path, deadline, rest)?;
                let own = match changed {
                    Some(snapshot) => LoadedSession { snapshot, ..LoadedSession::default() },
                    None => idle.own.unwrap_or_default(),
                };
                Open { journal, own, root: idle.root, checked: false }
            }
        };
        open.own.background_sync = self.lazy;
        self.small_files.policy_of(&self.runtime.policies, &open.journal, &mut open.own);
        Ok(open)
    }

    /// Writes what is held back, makes durable what must be, gives the locks back, and then the answers. What was loaded
    /// of the session with this id, and of the project, is dropped.
    pub(crate) fn finish(&mut self, forget: Option<&str>) {
        let Some(batch) = &mut self.batch else { return };
        let unsaved = batch.write();
        let answers = std::mem::take(&mut batch.answers);
        self.collect_syncs();
        self.close(forget, &unsaved);
        unsaved.send(&self.runtime, &self.project, answers);
    }

    /// Notes whose journals are to be made durable in the background.
    fn collect_syncs(&mut self) {
        let Some(batch) = &mut self.batch else { return };
        for (id, Open { journal, own, .. }) in &mut batch.sessions {
            if std::mem::take(&mut own.wants_sync) && !std::mem::replace(&mut own.sync_asked, true) {
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
            self.shared = journal.release().map(|rest| IdleProject { rest, shared });
            let mark = self.shared.as_ref().map(|idle| idle.rest.mark());
            self.ours.lock().unwrap_or_else(PoisonError::into_inner).mark = mark;
        }
        for (id, Open { journal, own, root, .. }) in sessions {
            if forget != Some(id.as_str()) && !unsaved.sessions.contains_key(&id) {
                self.sessions.insert(id, Idle { rest: journal.release(), own: Some(own), root, used: Instant::now() });
            }
        }
        self.make_room();
    }

    /// Whether the session is loaded.
    #[cfg(test)]
    pub(crate) fn is_loaded(&self, session: &str) -> bool {
        self.sessions.contains_key(session)
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
            | EventKind::Stop { .. }
            | EventKind::Idle {}
    )
}
