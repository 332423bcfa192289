//! Finds conditions that never or always hold, by trying them on histories made for them.
//!
//! This is a hint, not a proof: a condition that holds in none of the histories may hold in another.

mod sample;

use crate::evaluate::Verdict;
use crate::event::Event;
use crate::leaf::Leaf;
use crate::state::{History, observe};
pub use sample::Decided;
use sample::Sample;

/// How many histories are tried.
const HISTORIES: u64 = 1000;
/// How many bursts of events one history has at most.
const MAX_BURSTS: usize = 12;

/// A suspicion about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuity {
    /// It held in no history.
    Never,
    /// It held in every history.
    Always,
}

/// Whether `leaf` never or always held at calls like `decided`. The same leaf gives the same answer.
#[must_use]
pub fn vacuity(leaf: &Leaf, decided: &[Decided<'_>]) -> Option<Vacuity> {
    let mut found = Found::default();
    for seed in 0..HISTORIES {
        let mut sample = Sample::new(leaf, seed);
        let mut history = History::default();
        let bursts = sample.below(MAX_BURSTS + 1);
        for _ in 0..=bursts {
            try_calls(leaf, &history, &mut sample, decided, &mut found);
            if found.held && found.failed {
                return None;
            }
            happen(leaf, &mut history, &mut sample);
        }
    }
    match (found.held, found.failed) {
        (true, false) => Some(Vacuity::Always),
        (false, true) => Some(Vacuity::Never),
        _ => None,
    }
}

#[derive(Default)]
struct Found {
    held: bool,
    failed: bool,
}

/// Evaluates the condition at each call, which carries the fields that the call itself has.
fn try_calls(leaf: &Leaf, history: &History, sample: &mut Sample<'_>, decided: &[Decided<'_>], found: &mut Found) {
    for call in decided {
        let fields = sample.call(call);
        let Decided { namespace, action, kind } = *call;
        let event = Event { time: sample.time(), namespace, action, also: &[], kind, fields: &fields };
        match history.evaluate(leaf, &event, &fields) {
            Verdict::True => found.held = true,
            Verdict::False => found.failed = true,
            Verdict::Unknown(_) => {}
        }
    }
}

/// Lets something happen, perhaps as often as a count asks for.
fn happen(leaf: &Leaf, history: &mut History, sample: &mut Sample<'_>) {
    sample.pass_time();
    let Some(position) = sample.pattern() else { return };
    let Some(pattern) = leaf.patterns.get(position) else { return };
    for _ in 0..sample.times() {
        let fields = sample.fields(pattern);
        let event = Event {
            time: sample.time(),
            namespace: &pattern.namespace,
            action: &pattern.action,
            also: &[],
            kind: &pattern.kind,
            fields: &fields,
        };
        history.apply(&observe([leaf], &event));
    }
}
