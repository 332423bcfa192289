//! The order in which the listeners of a stage are told: that of the count, whatever the threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Counts denials, and lets one thread at a time tell of them.
#[derive(Debug, Default)]
pub(crate) struct Order {
    turn: Mutex<Turn>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Turn {
    /// How many calls were denied.
    denied: u64,
    /// Which thread tells the listeners now. No event has it.
    teller: Option<ThreadId>,
}

/// A turn to tell the listeners of one denial. It ends when it is dropped.
pub(crate) struct Telling<'o> {
    order: &'o Order,
    /// Who told before: the same thread, where a listener has made the stage deny.
    outer: Option<ThreadId>,
    /// Which denial it is, counted from 1.
    pub(crate) at: u64,
}

impl Order {
    /// Waits for the turn of the next denial. A thread that tells already has it at once: its inner denial is told
    /// inside of the outer one.
    pub(crate) fn next(&self) -> Telling<'_> {
        let own = std::thread::current().id();
        let taken = |turn: &mut Turn| turn.teller.is_some_and(|teller| teller != own);
        let mut turn = self.over.wait_while(self.turn(), taken).unwrap_or_else(PoisonError::into_inner);
        turn.denied = turn.denied.saturating_add(1);
        Telling { order: self, outer: turn.teller.replace(own), at: turn.denied }
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.order.turn().teller = self.outer;
        self.order.over.notify_one();
    }
}
