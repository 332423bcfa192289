//! Where one waiting event's answer goes: exactly one of several threads gives it, and nothing gives none.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use phasegate_adapter::Problem;
use phasegate_core::{Code, Step};

/// What came of an event.
pub(crate) type Outcome = Result<Step, Problem>;

#[derive(Debug, Default)]
enum Place {
    #[default]
    Empty,
    Awaited(Waker),
    Given(Box<Outcome>),
    Over,
}

/// The place of one answer, seen from both ends and from whoever watches the clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot(Arc<Mutex<Place>>);

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the answer, if none was given before.
    pub(crate) fn give(&self, outcome: Outcome) {
        let mut place = self.lock();
        if matches!(*place, Place::Given(_) | Place::Over) {
            return;
        }
        if let Place::Awaited(waker) = std::mem::replace(&mut *place, Place::Given(Box::new(outcome))) {
            drop(place);
            waker.wake();
        }
    }

    /// The answer, if there is one.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> Option<Outcome> {
        match std::mem::replace(&mut *self.lock(), Place::Over) {
            Place::Given(outcome) => Some(*outcome),
            Place::Empty | Place::Awaited(_) | Place::Over => None,
        }
    }

    /// Whether an answer was given.
    pub(crate) fn answered(&self) -> bool {
        matches!(*self.lock(), Place::Given(_) | Place::Over)
    }
}

/// The end that decides. If it goes without an answer, the answer is a problem.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Slot);

impl Drop for Answer {
    fn drop(&mut self) {
        if !self.0.answered() {
            self.0.give(Err(Problem::new(Code::Internal, "the guard gave up on this event")));
        }
    }
}

/// The end that waits.
#[derive(Debug)]
pub(crate) struct Awaited(pub(crate) Slot);

impl Future for Awaited {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut place = self.0.lock();
        match std::mem::replace(&mut *place, Place::Over) {
            Place::Given(outcome) => Poll::Ready(*outcome),
            Place::Empty | Place::Awaited(_) => {
                *place = Place::Awaited(context.waker().clone());
                Poll::Pending
            }
            Place::Over => Poll::Ready(Err(Problem::new(Code::Internal, "the answer was taken before"))),
        }
    }
}
