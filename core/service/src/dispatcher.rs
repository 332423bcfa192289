//! The dispatcher, to which events are submitted. An event without competition is decided on the caller's thread;
//! others wait together for a worker. A second thread watches their deadlines.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Builder;
use std::time::Duration;

use phasegate_adapter::{Problem, Refusal};
use phasegate_core::{Code, Event};

use crate::batch::{BatchProcessor, Input, PendingSync, Request};
use crate::oneshot::{Oneshot, Receiver, Sender};
use phasegate_runtime::deadline::Deadline;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::ownership::open_own;

/// The most events of one batch.
const MAX_BATCH_EVENTS: usize = 256;

/// A dispatcher, open until the value goes.
#[derive(Debug)]
pub(crate) struct Dispatcher<K: BatchProcessor> {
    inner: Arc<Inner<K>>,
    limit: Duration,
}

#[derive(Debug)]
struct Inner<K> {
    processor: Mutex<K>,
    queue: Mutex<Queue>,
    /// Wakes the worker.
    work: Condvar,
    /// Wakes the thread that watches deadlines.
    clock: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    tasks: VecDeque<Task>,
    /// Awaited answers, in the order of their deadlines.
    waiting: VecDeque<(Deadline, Oneshot)>,
    /// Whether a batch is to be finished.
    open: bool,
    /// Journals that are to be made durable when nothing else waits.
    syncs: Vec<PendingSync>,
    started: bool,
    closed: bool,
}

/// What the worker does in turn.
enum Task {
    Request(Request),
    /// Something between two batches.
    Run(Box<dyn FnOnce() + Send>),
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Request(request) => request.fmt(f),
            Self::Run(_) => f.write_str("Run"),
        }
    }
}

impl<K: BatchProcessor> Dispatcher<K> {
    /// A dispatcher at which an answer may take so long.
    pub(crate) fn new(processor: K, limit: Duration) -> Self {
        let (queue, work, clock) = Default::default();
        Self { inner: Arc::new(Inner { processor: Mutex::new(processor), queue, work, clock }), limit }
    }

    /// Leaves something to the worker; the answer goes to the slot. What was left before is done before.
    pub(crate) fn spawn(&self, session: &str, input: Input, slot: &Oneshot) {
        let (deadline, answer) = (Deadline::new(self.limit), Sender(slot.clone()));
        let request = Request { session: session.to_string(), input, deadline, answer };
        self.inner.wait(Some(Task::Request(request)), Some((deadline, slot.clone())));
    }

    /// Has the worker do something when what was left before is done.
    pub(crate) fn run_after(&self, task: impl FnOnce() + Send + 'static) {
        self.inner.wait(Some(Task::Run(Box::new(task))), None);
    }

    /// Hands in an event. Where nothing stands in its way, and nothing need be made durable, the answer is there already.
    /// The answer may take as long as `limit` says.
    pub(crate) fn submit(&self, session: &str, event: Event, limit: Duration) -> Receiver {
        let (slot, deadline) = (Oneshot::default(), Deadline::new(limit));
        let (input, answer) = (Input::Event(Box::new(event)), Sender(slot.clone()));
        let request = Request { session: session.to_string(), input, deadline, answer };
        let left = match self.inner.processor.try_lock() {
            Ok(processor) => self.inner.at_once(processor, request),
            Err(TryLockError::Poisoned(poisoned)) => self.inner.at_once(poisoned.into_inner(), request),
            Err(TryLockError::WouldBlock) => Some(request),
        };
        if left.is_some() || !slot.is_answered() {
            self.inner.wait(left.map(Task::Request), Some((deadline, slot.clone())));
        }
        Receiver(slot)
    }

    /// Does something with what is loaded, between two batches.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut K) -> T) -> T {
        let mut processor = lock(&self.inner.processor);
        processor.finish();
        work(&mut processor)
    }
}

impl<K: BatchProcessor> Drop for Dispatcher<K> {
    fn drop(&mut self) {
        lock(&self.inner.queue).closed = true;
        self.inner.work.notify_all();
        self.inner.clock.notify_all();
    }
}

impl<K: BatchProcessor> Inner<K> {
    /// Decides an event on this thread, unless it would have to wait. The request, if so.
    fn at_once(self: &Arc<Self>, mut processor: MutexGuard<'_, K>, request: Request) -> Option<Request> {
        if !lock(&self.queue).tasks.is_empty() {
            return Some(request);
        }
        let left = processor.take(request, false).err().map(|request| *request);
        // Events that must wait for the disk wait together.
        if left.is_none() && !processor.must_sync() {
            processor.finish();
            let syncs = processor.to_sync();
            drop(processor);
            if !syncs.is_empty() {
                self.sync_later(syncs);
            }
        }
        left
    }

    /// Has the worker make journals durable when no request waits. Without a worker, a later event makes them durable.
    fn sync_later(self: &Arc<Self>, syncs: Vec<PendingSync>) {
        let mut queue = lock(&self.queue);
        queue.syncs.extend(syncs);
        self.start_threads(&mut queue);
        drop(queue);
        self.work.notify_one();
    }

    /// Leaves a task, or the batch that it is in, to the worker.
    fn wait(self: &Arc<Self>, task: Option<Task>, waiting: Option<(Deadline, Oneshot)>) {
        let mut queue = lock(&self.queue);
        queue.tasks.extend(task);
        queue.open = true;
        while queue.waiting.front().is_some_and(|(_, slot)| slot.is_answered()) {
            queue.waiting.pop_front();
        }
        let first = waiting.is_some_and(|(deadline, slot)| {
            let at = queue.waiting.partition_point(|(known, _)| known.left() <= deadline.left());
            queue.waiting.insert(at, (deadline, slot));
            at == 0
        });
        let started = self.start_threads(&mut queue);
        drop(queue);
        if started {
            self.work.notify_one();
            if first {
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

    /// Decides batches until the dispatcher is closed and nothing waits.
    fn work(&self) {
        loop {
            let mut queue = lock(&self.queue);
            while queue.tasks.is_empty() && !queue.open && queue.syncs.is_empty() {
                if queue.closed {
                    return;
                }
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
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

    /// Makes a journal durable. Where that fails, an event does it, and says so.
    fn sync(&self, sync: PendingSync) {
        let opened = open_own(&sync.path, OpenOptions::new().read(true));
        if opened.and_then(|file| disk().sync(&file, &sync.path)).is_ok() {
            lock(&self.processor).synced(sync);
        }
    }

    fn do_batch(&self) {
        let mut processor = lock(&self.processor);
        let tasks: Vec<Task> = {
            let mut queue = lock(&self.queue);
            queue.open = false;
            let count = queue.tasks.len().min(MAX_BATCH_EVENTS);
            queue.tasks.drain(..count).collect()
        };
        // A panic in a decision is caught there; after one anywhere else nothing that is loaded can be relied on.
        let done = catch_unwind(AssertUnwindSafe(|| {
            for task in tasks {
                do_task(&mut *processor, task);
            }
            processor.finish();
        }));
        if done.is_err() {
            processor.forget();
        }
        let syncs = processor.to_sync();
        lock(&self.queue).syncs.extend(syncs);
    }

    /// Answers those that have waited too long.
    fn watch(&self) {
        let mut queue = lock(&self.queue);
        loop {
            while let Some((deadline, slot)) = queue.waiting.front() {
                let left = deadline.left();
                if !slot.is_answered() && !left.is_zero() {
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

fn do_task(processor: &mut impl BatchProcessor, task: Task) {
    match task {
        Task::Request(request) => {
            if request.deadline.left().is_zero() {
                give_late(&request.answer.0, &request.deadline);
            }
            // An event that was answered is not decided any more; what a frame tells has happened all the same.
            if matches!(request.input, Input::Frame(_)) || !request.answer.0.is_answered() {
                // While a lock is waited for, no answer is that is there already.
                if let Err(request) = processor.take(request, false) {
                    processor.finish();
                    let _ = processor.take(*request, true);
                }
            }
        }
        Task::Run(task) => {
            processor.finish();
            task();
        }
    }
}

fn give_late(slot: &Oneshot, deadline: &Deadline) {
    let message = format!("no answer after {} ms", deadline.limit().as_millis());
    slot.send(Err(Refusal::closed(Problem::new(Code::Deadline, message))));
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

    use phasegate_core::Outcome;
    use serde_json::{Value, json};

    use super::*;
    use crate::session_cache::SessionCache;
    use phasegate_runtime::deadline::LIMIT;
    use phasegate_runtime::locations::Locations;
    use phasegate_runtime::operate::verify::verify;
    use phasegate_runtime::project::Project;
    use phasegate_runtime::runtime::Runtime;
    use phasegate_runtime::sessions::snapshot::ProjectSnapshot;
    use phasegate_runtime::sessions::snapshot::SessionSnapshot;
    use phasegate_store::file_store::FileStore;
    use phasegate_store::journal::Journal;
    use phasegate_store::journal::read_last;

    const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nfinish: agent\nphases:\n  look:\n    \
                         allowed: [Read]\n    forbidden: [Edit]\n    done_when: { ok: Read }\n  change:\n    allowed: \
                         [Edit]\n";

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn answer(awaited: Receiver) -> Result<Outcome, Problem> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let (mut awaited, mut context) = (pin!(awaited), Context::from_waker(&waker));
        loop {
            match awaited.as_mut().poll(&mut context) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    fn dispatcher(top: &Path, limit: Duration) -> (Arc<Runtime>, Project, Dispatcher<SessionCache>) {
        let skills = top.join("project/.phasegate/skills");
        std::fs::create_dir_all(&skills).unwrap();
        std::fs::write(skills.join("work.yaml"), SKILL).unwrap();
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
        let runtime = Arc::new(Runtime::new(Locations { state, user, machine, home }, []));
        let project = Project::find(&runtime.locations, &top.join("project"));
        let processor = SessionCache::new(Arc::clone(&runtime), project.clone()).lazy();
        (runtime, project, Dispatcher::new(processor, limit))
    }

    fn give(dispatcher: &Dispatcher<SessionCache>, session: &str, event: Value) -> Result<Outcome, Problem> {
        answer(dispatcher.submit(session, Event::from_value(event).unwrap(), dispatcher.limit))
    }

    fn begin(dispatcher: &Dispatcher<SessionCache>, session: &str) {
        for event in [
            json!({"event": "session_start", "source": "startup"}),
            json!({"event": "skill", "name": "work", "by": "human"}),
        ] {
            let _ = give(dispatcher, session, event).unwrap();
        }
    }

    #[test]
    fn many_at_once_are_all_answered_and_what_they_leave_fits() {
        let folder = tempfile::tempdir().unwrap();
        let (runtime, project, dispatcher) = dispatcher(folder.path(), Duration::from_secs(60));
        ["a", "b", "c"].into_iter().for_each(|session| begin(&dispatcher, session));
        let dispatcher = &dispatcher;
        let calls = |thread: usize| {
            for number in 0..30 {
                let (session, id) = (["a", "b", "c"][(thread + number) % 3], format!("{thread}-{number}"));
                let tool = if number % 4 == 0 { "Edit" } else { "Read" };
                let call = json!({"event": "tool_call", "id": id, "tool": tool, "input": {"file_path": "x"}});
                let _ = give(dispatcher, session, call).unwrap();
                let _ = give(dispatcher, session, json!({"event": "tool_result", "id": id, "outcome": "ok"})).unwrap();
                if number % 7 == 6 {
                    let anew = json!({"event": "skill", "name": "work", "by": "agent"});
                    let leave = json!({"event": "command", "by": "human", "name": "deactivate_skill",
                        "args": {"skill_name": "work"}});
                    let _ = (give(dispatcher, session, leave).unwrap(), give(dispatcher, session, anew).unwrap());
                }
            }
        };
        std::thread::scope(|scope| (0..6).for_each(|thread| drop(scope.spawn(move || calls(thread)))));
        let loaded = |session: &str| dispatcher.with(|processor| processor.is_loaded(session));
        assert!(["a", "b", "c"].into_iter().all(loaded), "they are still loaded");
        let events = 3 * 2 + 6 * (30 * 2 + 4 * 2);
        let count = |session: &str| {
            read_last::<SessionSnapshot>(&FileStore, &project.session_journal(session)).unwrap().unwrap().seq
        };
        assert_eq!(["a", "b", "c"].into_iter().map(count).sum::<u64>(), events);
        let report = verify(&runtime.locations, &project, &mut |_, _| {});
        assert!(report.fits(), "{:#?}", report.findings);
    }

    #[test]
    fn what_stays_locked_is_busy_and_what_hangs_is_late() {
        let folder = tempfile::tempdir().unwrap();
        let (_, project, dispatcher) = dispatcher(folder.path(), Duration::from_millis(400));
        begin(&dispatcher, "s");
        let call = || json!({"event": "tool_call", "id": "1", "tool": "Read", "input": {}});
        let locked = Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &Deadline::new(LIMIT)).unwrap();
        assert_eq!(give(&dispatcher, "s", call()).unwrap_err().code, Code::StateBusy);
        drop(locked);
        let dispatcher = Arc::new(dispatcher);
        let (hung, before) = (Arc::clone(&dispatcher), std::sync::mpsc::channel());
        let hangs = spawn(move || {
            hung.with(|_| {
                before.0.send(()).unwrap();
                sleep(Duration::from_millis(1500));
            });
        });
        before.1.recv().unwrap();
        assert_eq!(give(&dispatcher, "s", call()).unwrap_err().code, Code::Deadline);
        hangs.join().unwrap();
        let decided = || give(&dispatcher, "s", call()).is_ok_and(|step| step.decision.is_some());
        assert!((0..10).any(|_| decided()), "it goes on");
    }
}
