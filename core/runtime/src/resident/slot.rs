//! Where one waiting event's answer goes: exactly one of several threads gives it, and nothing gives none.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use phasegate_adapter::Problem;
use phasegate_core::{Code, Step};

use crate::frames::Outcome;

#[derive(Default)]
enum Place {
    #[default]
    Empty,
    Awaited(Waker),
    /// It goes to this function.
    Sent(Box<dyn FnOnce(Outcome) + Send>),
    Given(Box<Outcome>),
    Over,
}

/// The place of one answer, seen from both ends and from whoever watches the clock.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<(Mutex<Place>, AtomicBool)>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("answered", &self.answered()).finish()
    }
}

impl Slot {
    /// A slot whose answer goes to this function, on the thread that gives it.
    pub(crate) fn sending(send: impl FnOnce(Outcome) + Send + 'static) -> Self {
        Self(Arc::new((Mutex::new(Place::Sent(Box::new(send))), AtomicBool::new(false))))
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the answer, if none was given before.
    pub(crate) fn give(&self, outcome: Outcome) {
        let mut place = self.lock();
        match std::mem::replace(&mut *place, Place::Over) {
            Place::Empty => *place = Place::Given(Box::new(outcome)),
            Place::Awaited(waker) => {
                *place = Place::Given(Box::new(outcome));
                drop(place);
                waker.wake();
            }
            Place::Sent(send) => {
                drop(place);
                send(outcome);
            }
            given @ (Place::Given(_) | Place::Over) => *place = given,
        }
    }

    /// The answer, if there is one.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> Option<Result<Step, Problem>> {
        match std::mem::replace(&mut *self.lock(), Place::Over) {
            Place::Given(outcome) => Some(only(*outcome)),
            Place::Empty | Place::Awaited(_) | Place::Sent(_) | Place::Over => None,
        }
    }

    /// Whether an answer was given.
    pub(crate) fn answered(&self) -> bool {
        matches!(*self.lock(), Place::Given(_) | Place::Over)
    }

    /// Whether whoever decides has nothing more to do for it.
    pub(crate) fn worked_off(&self) -> bool {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// The last step of an event.
fn only(outcome: Outcome) -> Result<Step, Problem> {
    let last = outcome?.and_then(|mut steps| steps.pop());
    last.ok_or_else(|| Problem::new(Code::Internal, "the event led to nothing"))
}

/// The end that decides. If it goes without an answer, the answer is a problem.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Slot);

impl Drop for Answer {
    fn drop(&mut self) {
        if !self.0.answered() {
            self.0.give(Err(Problem::new(Code::Internal, "the guard gave up on this event")));
        }
        self.0.0.1.store(true, Ordering::SeqCst);
    }
}

/// The end that waits.
#[derive(Debug)]
pub(crate) struct Awaited(pub(crate) Slot);

impl Future for Awaited {
    type Output = Result<Step, Problem>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut place = self.0.lock();
        match std::mem::replace(&mut *place, Place::Over) {
            Place::Given(outcome) => Poll::Ready(only(*outcome)),
            Place::Empty | Place::Awaited(_) => {
                *place = Place::Awaited(context.waker().clone());
                Poll::Pending
            }
            // Where it goes to a function, nobody awaits it.
            Place::Sent(_) | Place::Over => {
                Poll::Ready(Err(Problem::new(Code::Internal, "the answer was taken before")))
            }
        }
    }
}
