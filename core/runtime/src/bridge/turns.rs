//! Turns: the frames of one session are decided one after another, in the order in which they came.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The frames that are open, by session.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<(Mutex<Waiting>, Condvar)>);

#[derive(Debug, Default)]
struct Waiting {
    /// The numbers of the open frames of each session, the one whose turn it is first.
    sessions: BTreeMap<String, VecDeque<u64>>,
    last: u64,
    open: usize,
}

/// The place of one frame among those of its session, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    session: String,
    number: u64,
}

impl Turns {
    /// The next place in the session.
    pub(super) fn next(&self, session: String) -> Turn {
        let mut waiting = self.waiting();
        waiting.last += 1;
        waiting.open += 1;
        let number = waiting.last;
        waiting.sessions.entry(session.clone()).or_default().push_back(number);
        drop(waiting);
        Turn { turns: self.clone(), session, number }
    }

    /// How many frames are open.
    pub(super) fn open(&self) -> usize {
        self.waiting().open
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until every earlier frame of the session is done.
    pub(super) fn wait(&self) {
        let mut waiting = self.turns.waiting();
        while waiting.sessions.get(&self.session).and_then(VecDeque::front) != Some(&self.number) {
            waiting = self.turns.0.1.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut waiting = self.turns.waiting();
        waiting.open = waiting.open.saturating_sub(1);
        if let Some(numbers) = waiting.sessions.get_mut(&self.session) {
            numbers.retain(|number| *number != self.number);
            if numbers.is_empty() {
                waiting.sessions.remove(&self.session);
            }
        }
        drop(waiting);
        self.turns.0.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_in_order_and_another_one_beside_it() {
        let turns = Turns::default();
        let (first, second, third) = (turns.next("a".into()), turns.next("a".into()), turns.next("a".into()));
        let other = turns.next("b".into());
        let order = Arc::new(Mutex::new(Vec::<u64>::new()));
        let threads: Vec<_> = [third, second]
            .into_iter()
            .map(|turn| {
                let order = Arc::clone(&order);
                std::thread::spawn(move || {
                    turn.wait();
                    order.lock().unwrap().push(turn.number);
                })
            })
            .collect();
        other.wait();
        first.wait();
        assert!(order.lock().unwrap().is_empty());
        assert_eq!(turns.open(), 4);
        drop((first, other));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [2, 3]);
        assert_eq!(turns.open(), 0);
    }
}
