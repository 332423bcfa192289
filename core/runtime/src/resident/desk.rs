//! The desk where events are handed in: one that nobody else competes with is decided on the caller's own thread; the others
//! wait together for a worker. A second thread watches the clock for those that wait.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Builder;
use std::time::Duration;

use phasegate_adapter::Problem;
use phasegate_core::{Code, Event};

use super::lease::MOMENT;
use super::slot::{Answer, Awaited, Slot};
use super::{Asked, Job, Resident, Sync};
use crate::deadline::Deadline;
use crate::disk::{Disk as _, disk};
use crate::files;

/// The most events of one batch.
const BATCH: usize = 256;

/// Who decides what is handed in, batch by batch.
pub(crate) trait Keeper: Send + 'static {
    /// As [`Resident::take`].
    fn take(&mut self, job: Job, wait: bool) -> Result<(), Box<Job>>;
    /// As [`Resident::must_sync`].
    fn must_sync(&self) -> bool;
    /// Ends the batch, as [`Resident::finish`].
    fn finish(&mut self);
    /// As [`Resident::pause`].
    fn pause(&mut self) -> bool {
        self.finish();
        false
    }
    /// As [`Resident::expire`].
    fn expire(&mut self) -> bool {
        false
    }
    /// As [`Resident::forget`].
    fn forget(&mut self);
    /// Journals that are to be made durable in the background, each told once.
    fn to_sync(&mut self) -> Vec<Sync>;
    /// As [`Resident::synced`].
    fn synced(&mut self, done: Sync);
}

/// A desk, open until the value goes.
#[derive(Debug)]
pub(crate) struct Desk<K: Keeper = Resident> {
    inner: Arc<Inner<K>>,
    limit: Duration,
}

#[derive(Debug)]
struct Inner<K> {
    resident: Mutex<K>,
    queue: Mutex<Queue>,
    /// Wakes the worker.
    work: Condvar,
    /// Wakes whoever watches the clock.
    clock: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    tasks: VecDeque<Task>,
    /// Answers that somebody waits for, in the order of their deadlines.
    waiting: VecDeque<(Deadline, Slot)>,
    /// Whether a batch is to be finished.
    open: bool,
    /// Journals that are to be made durable when nothing else waits.
    syncs: Vec<Sync>,
    /// Whether something stays locked for a moment, which is the worker's to end.
    paused: bool,
    started: bool,
    closed: bool,
}

/// What the worker does in turn.
enum Task {
    Job(Job),
    /// Something between two batches.
    Errand(Box<dyn FnOnce() + Send>),
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Job(job) => job.fmt(f),
            Self::Errand(_) => f.write_str("Errand"),
        }
    }
}

impl<K: Keeper> Desk<K> {
    /// A desk at which an answer may take so long.
    pub(crate) fn new(keeper: K, limit: Duration) -> Self {
        let (queue, work, clock) = Default::default();
        Self { inner: Arc::new(Inner { resident: Mutex::new(keeper), queue, work, clock }), limit }
    }

    /// Leaves something to the worker; the answer goes to the slot. What was left before is done before.
    pub(crate) fn leave(&self, session: &str, asked: Asked, slot: &Slot) {
        let (deadline, answer) = (Deadline::new(self.limit), Answer(slot.clone()));
        let job = Job { session: session.to_string(), asked, deadline, answer };
        self.inner.wait(Some(Task::Job(job)), Some((deadline, slot.clone())));
    }

    /// Has the worker do something when what was left before is done.
    pub(crate) fn afterwards(&self, errand: impl FnOnce() + Send + 'static) {
        self.inner.wait(Some(Task::Errand(Box::new(errand))), None);
    }

    /// Hands in an event. Where nothing stands in its way, and nothing need be made durable, the answer is there already.
    pub(crate) fn hand_in(&self, session: &str, event: Event) -> Awaited {
        let (slot, deadline) = (Slot::default(), Deadline::new(self.limit));
        let (asked, answer) = (Asked::Event(Box::new(event)), Answer(slot.clone()));
        let job = Job { session: session.to_string(), asked, deadline, answer };
        let left = match self.inner.resident.try_lock() {
            Ok(resident) => self.inner.at_once(resident, job),
            Err(TryLockError::Poisoned(poisoned)) => self.inner.at_once(poisoned.into_inner(), job),
            Err(TryLockError::WouldBlock) => Some(job),
        };
        if left.is_some() || !slot.answered() {
            self.inner.wait(left.map(Task::Job), Some((deadline, slot.clone())));
        }
        Awaited(slot)
    }

    /// Does something with what is loaded, between two batches.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut K) -> T) -> T {
        let mut resident = lock(&self.inner.resident);
        resident.finish();
        work(&mut resident)
    }
}

impl<K: Keeper> Drop for Desk<K> {
    fn drop(&mut self) {
        lock(&self.inner.queue).closed = true;
        self.inner.work.notify_all();
        self.inner.clock.notify_all();
    }
}

impl<K: Keeper> Inner<K> {
    /// Decides an event on this thread, unless it would have to wait. The job, if so.
    fn at_once(self: &Arc<Self>, mut resident: MutexGuard<'_, K>, job: Job) -> Option<Job> {
        if !lock(&self.queue).tasks.is_empty() {
            return Some(job);
        }
        let left = resident.take(job, false).err().map(|job| *job);
        // Whoever must wait for the disk waits together with others.
        if left.is_none() && !resident.must_sync() {
            let paused = resident.pause();
            let syncs = resident.to_sync();
            if paused || !syncs.is_empty() {
                self.later(resident, paused, syncs);
            }
        }
        left
    }

    /// Leaves to the worker what is to be done when nothing else waits.
    fn later(self: &Arc<Self>, mut resident: MutexGuard<'_, K>, paused: bool, syncs: Vec<Sync>) {
        let mut queue = lock(&self.queue);
        let new = !syncs.is_empty() || (paused && !queue.paused);
        queue.syncs.extend(syncs);
        queue.paused |= paused;
        if !new {
            return;
        }
        if !self.start_threads(&mut queue) {
            queue.paused = false;
            resident.finish();
        }
        drop((queue, resident));
        self.work.notify_one();
    }

    /// Leaves a task, or the batch that it is in, to the worker.
    fn wait(self: &Arc<Self>, task: Option<Task>, waiting: Option<(Deadline, Slot)>) {
        let mut queue = lock(&self.queue);
        queue.tasks.extend(task);
        queue.open = true;
        while queue.waiting.front().is_some_and(|(_, slot)| slot.answered()) {
            queue.waiting.pop_front();
        }
        let calm = queue.waiting.is_empty();
        queue.waiting.extend(waiting);
        let started = self.start_threads(&mut queue);
        drop(queue);
        if started {
            self.work.notify_one();
            if calm {
                self.clock.notify_one();
            }
        } else {
            // Without threads of its own the guard works on the caller's.
            self.do_batch();
        }
    }

    /// Starts the threads, if that is still to be done; whether they are there.
    fn start_threads(self: &Arc<Self>, queue: &mut Queue) -> bool {
        if !queue.started {
            queue.started = self.start("guard", Self::work) && self.start("guard-clock", Self::watch);
        }
        queue.started
    }

    fn start(self: &Arc<Self>, name: &str, work: fn(&Self)) -> bool {
        let inner = Arc::clone(self);
        Builder::new().name(name.to_string()).spawn(move || work(&inner)).is_ok()
    }

    /// Decides batches until the desk is closed and nothing waits.
    fn work(&self) {
        loop {
            let mut queue = lock(&self.queue);
            while queue.tasks.is_empty() && !queue.open && queue.syncs.is_empty() {
                if queue.closed {
                    return;
                }
                if !queue.paused {
                    queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                let waited = self.work.wait_timeout(queue, MOMENT).unwrap_or_else(PoisonError::into_inner);
                queue = if waited.1.timed_out() { self.expire(waited.0) } else { waited.0 };
            }
            if queue.tasks.is_empty() && !queue.open {
                let syncs = std::mem::take(&mut queue.syncs);
                drop(queue);
                syncs.into_iter().for_each(|sync| self.sync(sync));
            } else {
                drop(queue);
                self.do_batch();
            }
        }
    }

    /// Gives back what stayed locked, if its moment is over.
    fn expire<'a>(&'a self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        drop(queue);
        // Whoever decides now asks for another moment.
        let mut resident = match self.resident.try_lock() {
            Ok(resident) => resident,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return lock(&self.queue),
        };
        let paused = resident.expire();
        let mut queue = lock(&self.queue);
        queue.paused = paused;
        drop(resident);
        queue
    }

    /// Makes a journal durable. Where that fails, an event does it, and says so.
    fn sync(&self, sync: Sync) {
        let opened = files::open_own(&sync.path, OpenOptions::new().read(true));
        if opened.and_then(|file| disk().sync(&file, &sync.path)).is_ok() {
            lock(&self.resident).synced(sync);
        }
    }

    fn do_batch(&self) {
        let mut resident = lock(&self.resident);
        let tasks: Vec<Task> = {
            let mut queue = lock(&self.queue);
            queue.open = false;
            let count = queue.tasks.len().min(BATCH);
            queue.tasks.drain(..count).collect()
        };
        // A panic in a decision is caught there; after one anywhere else nothing that is loaded can be relied on.
        let done = catch_unwind(AssertUnwindSafe(|| {
            for task in tasks {
                do_task(&mut *resident, task);
            }
            resident.pause()
        }));
        if done.is_err() {
            resident.forget();
        }
        let syncs = resident.to_sync();
        let mut queue = lock(&self.queue);
        queue.syncs.extend(syncs);
        queue.paused = done.unwrap_or_default();
    }

    /// Answers those that have waited too long.
    fn watch(&self) {
        let mut queue = lock(&self.queue);
        loop {
            while let Some((deadline, slot)) = queue.waiting.front() {
                let left = deadline.left();
                if !slot.answered() && !left.is_zero() {
                    break;
                }
                give_late(slot, deadline);
                queue.waiting.pop_front();
            }
            if queue.closed && queue.waiting.is_empty() {
                return;
            }
            queue = match queue.waiting.front().map(|(deadline, _)| deadline.left()) {
                Some(left) => self.clock.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.clock.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

fn do_task(keeper: &mut impl Keeper, task: Task) {
    match task {
        Task::Job(job) => {
            if job.deadline.left().is_zero() {
                give_late(&job.answer.0, &job.deadline);
            }
            // An event that was answered is not decided any more; what a frame tells has happened all the same.
            if matches!(job.asked, Asked::Frame(_)) || !job.answer.0.answered() {
                // While a lock is waited for, no answer is that is there already.
                if let Err(job) = keeper.take(job, false) {
                    keeper.finish();
                    let _ = keeper.take(*job, true);
                }
            }
        }
        Task::Errand(errand) => {
            keeper.finish();
            errand();
        }
    }
}

fn give_late(slot: &Slot, deadline: &Deadline) {
    let message = format!("no answer after {} ms", deadline.limit().as_millis());
    slot.give(Err(Problem::new(Code::Deadline, message)));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::pin::pin;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::{Thread, sleep, spawn};

    use phasegate_core::Step;
    use serde_json::{Value, json};

    use super::*;
    use crate::deadline::LIMIT;
    use crate::journal::Journal;
    use crate::locations::Locations;
    use crate::project::Project;
    use crate::runtime::Runtime;
    use crate::verify::verify;

    const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nleave_skill: agent\nphases:\n  look:\n    \
                         allowed: [Read]\n    forbidden: [Edit]\n    done_when: { ok: Read }\n  change:\n    allowed: \
                         [Edit]\n";

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn answer(awaited: Awaited) -> Result<Step, Problem> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let (mut awaited, mut context) = (pin!(awaited), Context::from_waker(&waker));
        loop {
            match awaited.as_mut().poll(&mut context) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    fn desk(top: &Path, limit: Duration) -> (Arc<Runtime>, Project, Desk) {
        let skills = top.join("project/.phasegate/skills");
        std::fs::create_dir_all(&skills).unwrap();
        std::fs::write(skills.join("work.yaml"), SKILL).unwrap();
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
        let runtime = Arc::new(Runtime::new(Locations { state, user, machine, home }, []));
        let project = Project::find(&runtime.locations, &top.join("project"));
        let resident = Resident::new(Arc::clone(&runtime), project.clone()).lazy();
        (runtime, project, Desk::new(resident, limit))
    }

    fn give(desk: &Desk, session: &str, event: Value) -> Result<Step, Problem> {
        answer(desk.hand_in(session, Event::from_value(event).unwrap()))
    }

    fn begin(desk: &Desk, session: &str) {
        for event in [
            json!({"event": "session_start", "source": "startup"}),
            json!({"event": "skill", "name": "work", "by": "human"}),
        ] {
            let _ = give(desk, session, event).unwrap();
        }
    }

    #[test]
    fn many_at_once_are_all_answered_and_what_they_leave_fits() {
        let folder = tempfile::tempdir().unwrap();
        let (runtime, project, desk) = desk(folder.path(), Duration::from_secs(60));
        ["a", "b", "c"].into_iter().for_each(|session| begin(&desk, session));
        let desk = &desk;
        let calls = |thread: usize| {
            for number in 0..30 {
                let (session, id) = (["a", "b", "c"][(thread + number) % 3], format!("{thread}-{number}"));
                let tool = if number % 4 == 0 { "Edit" } else { "Read" };
                let call = json!({"event": "tool_call", "id": id, "tool": tool, "input": {"file_path": "x"}});
                let _ = give(desk, session, call).unwrap();
                let _ = give(desk, session, json!({"event": "tool_result", "id": id, "outcome": "ok"})).unwrap();
                if number % 7 == 6 {
                    let anew = json!({"event": "skill", "name": "work", "by": "agent"});
                    let leave = json!({"event": "command", "by": "human", "name": "deactivate_skill",
                        "args": {"skill_name": "work"}});
                    let _ = (give(desk, session, leave).unwrap(), give(desk, session, anew).unwrap());
                }
            }
        };
        std::thread::scope(|scope| (0..6).for_each(|thread| drop(scope.spawn(move || calls(thread)))));
        let records = |session: &str| desk.with(|resident| resident.probe(session, &[]).map(|_| ()).is_some());
        assert!(["a", "b", "c"].into_iter().all(records), "they are still loaded");
        let events = 3 * 2 + 6 * (30 * 2 + 4 * 2);
        let count = |session: &str| crate::journal::read_last(&project.session_journal(session)).unwrap().unwrap().seq;
        assert_eq!(["a", "b", "c"].into_iter().map(count).sum::<u64>(), events);
        let report = verify(&runtime.locations, &project, &mut |_, _| {});
        assert!(report.fits(), "{:#?}", report.findings);
    }

    #[test]
    fn what_stays_locked_is_busy_and_what_hangs_is_late() {
        let folder = tempfile::tempdir().unwrap();
        let (_, project, desk) = desk(folder.path(), Duration::from_millis(400));
        begin(&desk, "s");
        let call = || json!({"event": "tool_call", "id": "1", "tool": "Read", "input": {}});
        let locked = Journal::open(&project.journal(), &Deadline::new(LIMIT)).unwrap();
        assert_eq!(give(&desk, "s", call()).unwrap_err().code, Code::StateBusy);
        drop(locked);
        let desk = Arc::new(desk);
        let (hung, before) = (Arc::clone(&desk), std::sync::mpsc::channel());
        let hangs = spawn(move || {
            hung.with(|_| {
                before.0.send(()).unwrap();
                sleep(Duration::from_millis(1500));
            });
        });
        before.1.recv().unwrap();
        assert_eq!(give(&desk, "s", call()).unwrap_err().code, Code::Deadline);
        hangs.join().unwrap();
        let decided = || give(&desk, "s", call()).is_ok_and(|step| step.decision.is_some());
        assert!((0..10).any(|_| decided()), "it goes on");
    }
}
