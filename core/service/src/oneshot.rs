//! A oneshot channel for one answer: exactly one of several threads sends it, and a sender that is dropped sends a problem.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use phasegate_adapter::{Problem, Refusal};
use phasegate_core::{Code, Outcome};
use phasegate_runtime::driver::frames::FrameOutcomes;

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    Awaited(Waker),
    /// The answer goes to this function.
    Callback(Box<dyn FnOnce(FrameOutcomes) + Send>),
    Sent(Box<FrameOutcomes>),
    Taken,
}

#[derive(Default)]
struct Shared {
    slot: Mutex<Slot>,
    finished: AtomicBool,
}

/// The channel, shared by both ends and the thread that watches deadlines.
#[derive(Clone, Default)]
pub(crate) struct Oneshot(Arc<Shared>);

impl std::fmt::Debug for Oneshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oneshot").field("answered", &self.is_answered()).finish()
    }
}

impl Oneshot {
    /// A channel that calls this function with the answer, on the thread that sends it.
    pub(crate) fn calling(send: impl FnOnce(FrameOutcomes) + Send + 'static) -> Self {
        let slot = Mutex::new(Slot::Callback(Box::new(send)));
        Self(Arc::new(Shared { slot, finished: AtomicBool::new(false) }))
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the answer, if none was sent before.
    pub(crate) fn send(&self, outcome: FrameOutcomes) {
        let mut slot = self.lock();
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Empty => *slot = Slot::Sent(Box::new(outcome)),
            Slot::Awaited(waker) => {
                *slot = Slot::Sent(Box::new(outcome));
                drop(slot);
                waker.wake();
            }
            Slot::Callback(send) => {
                drop(slot);
                send(outcome);
            }
            sent @ (Slot::Sent(_) | Slot::Taken) => *slot = sent,
        }
    }

    /// The answer, if there is one.
    #[cfg(test)]
    pub(crate) fn try_take(&self) -> Option<Result<Outcome, Problem>> {
        match std::mem::replace(&mut *self.lock(), Slot::Taken) {
            Slot::Sent(outcome) => Some(last(*outcome)),
            Slot::Empty | Slot::Awaited(_) | Slot::Callback(_) | Slot::Taken => None,
        }
    }

    /// Whether an answer was sent.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(*self.lock(), Slot::Sent(_) | Slot::Taken)
    }

    /// Whether the sender is gone: nothing works on this request any more.
    pub(crate) fn is_finished(&self) -> bool {
        self.0.finished.load(Ordering::SeqCst)
    }
}

/// The last step of an event.
fn last(outcome: FrameOutcomes) -> Result<Outcome, Problem> {
    let last = outcome.map_err(|refusal| refusal.problem)?.and_then(|mut steps| steps.pop());
    last.ok_or_else(|| Problem::new(Code::Internal, "the event led to nothing"))
}

/// The end that decides. If it is dropped without an answer, the answer is a problem.
#[derive(Debug)]
pub(crate) struct Sender(pub(crate) Oneshot);

impl Sender {
    /// Sends the answer, if none was sent before.
    pub(crate) fn send(&self, outcome: FrameOutcomes) {
        self.0.send(outcome);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if !self.0.is_answered() {
            let problem = Problem::new(Code::Internal, "the guard gave up on this event");
            self.0.send(Err(Refusal::closed(problem)));
        }
        self.0.0.finished.store(true, Ordering::SeqCst);
    }
}

/// The end that waits.
#[derive(Debug)]
pub(crate) struct Receiver(pub(crate) Oneshot);

impl Future for Receiver {
    type Output = Result<Outcome, Problem>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.0.lock();
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Sent(outcome) => Poll::Ready(last(*outcome)),
            Slot::Empty | Slot::Awaited(_) => {
                *slot = Slot::Awaited(context.waker().clone());
                Poll::Pending
            }
            // Where a function is called, no receiver waits.
            Slot::Callback(_) | Slot::Taken => {
                Poll::Ready(Err(Problem::new(Code::Internal, "the answer was taken before")))
            }
        }
    }
}
