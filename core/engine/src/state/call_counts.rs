//! What a half of the state keeps of earlier calls, for facts of rules (rules 4.10).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// The most calls that are kept for a fact; the oldest go first.
const MAX_KEPT: usize = 512;
/// How much later than now something may have happened because clocks differ, in milliseconds.
const SKEW: i64 = 60_000;

/// What is kept of earlier calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptFacts {
    /// How many parts of calls changed files of the project, while a fact asked for it.
    pub changes: u64,
    /// When the latest line that changes files was let through of which something goes on after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<i64>,
    /// What is kept for each fact, by its key.
    pub facts: Arc<BTreeMap<String, KeptFact>>,
}

/// What is kept for a fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptFact {
    /// The calls that count, the latest last.
    pub calls: Vec<CountedCall>,
    /// The time of the latest call that was let go because there were too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<i64>,
}

/// A call that counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedCall {
    /// When it was let through, or when its tests had passed, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// How many of its parts count.
    pub parts: u32,
    /// Its session and its number there, where its end counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What a call changes of what is kept for a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactChange {
    /// The key of the fact.
    pub fact: String,
    /// Which of the calls that are kept count no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<Dropped>,
    /// A call that counts now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<CountedCall>,
}

/// Calls that count no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// All of them.
    All,
    /// This one, which ended.
    Call(String),
    /// Those before this time.
    Before(i64),
}

impl KeptFacts {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.changes == 0 && self.left.is_none() && self.facts.is_empty()
    }

    /// The calls whose end is awaited, each as its session and its number there.
    pub fn unended(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.facts.values().flat_map(|fact| &fact.calls).filter_map(|call| call.call.as_deref());
        names
            .filter_map(|name| name.rsplit_once(':'))
            .filter_map(|(session, number)| Some((session, number.parse().ok()?)))
    }

    /// The latest time at which something counted.
    pub(crate) fn latest(&self) -> Option<i64> {
        self.facts.values().flat_map(|fact| &fact.calls).map(|call| call.time).max()
    }

    /// Takes changes in. `known`: the keys of all facts; what is kept for others is forgotten.
    pub(crate) fn take_in(
        &mut self,
        changes: &[FactChange],
        changed_files: u64,
        left: Option<i64>,
        known: Option<&[String]>,
    ) {
        self.left = left.or(self.left);
        let facts = Arc::make_mut(&mut self.facts);
        if let Some(known) = known {
            facts.retain(|key, _| known.contains(key));
        }
        for change in changes {
            facts.entry(change.fact.clone()).or_default().take_in(change);
        }
        facts.retain(|_, fact| *fact != KeptFact::default());
        self.changes = self.changes.saturating_add(changed_files);
    }
}

impl KeptFact {
    fn take_in(&mut self, change: &FactChange) {
        match &change.without {
            Some(Dropped::All) => *self = Self::default(),
            Some(Dropped::Call(ended)) => self.calls.retain(|known| known.call.as_ref() != Some(ended)),
            Some(Dropped::Before(time)) => {
                self.calls.retain(|known| known.time >= *time);
                self.lost = self.lost.filter(|lost| lost >= time);
            }
            None => {}
        }
        let Some(call) = &change.with else { return };
        match self.calls.last_mut() {
            // Nothing asks when they were.
            Some(last) if change.without.is_none() && call.call.is_none() && last.call.is_none() => {
                (last.time, last.parts) = (call.time, last.parts.saturating_add(call.parts));
            }
            _ => self.calls.push(call.clone()),
        }
        let surplus = self.calls.len().saturating_sub(MAX_KEPT);
        self.lost = self.calls.drain(..surplus).map(|call| call.time).chain(self.lost).max();
    }

    /// How many parts of calls count now, of those that are at most so old and not among `gone`; `None`: nobody knows.
    pub(crate) fn count(&self, now: i64, within: Option<i64>, gone: &[String]) -> Option<u64> {
        let age = |time: i64| now.saturating_sub(time);
        let counts = |time: i64| within.is_none_or(|within| age(time) <= within);
        let is_odd = self.calls.iter().any(|call| within.is_some() && age(call.time) < -SKEW);
        if is_odd || self.lost.is_some_and(counts) {
            return None;
        }
        let goes_on = |call: &&CountedCall| call.call.as_ref().is_none_or(|name| !gone.contains(name));
        Some(self.calls.iter().filter(|call| counts(call.time)).filter(goes_on).map(|call| u64::from(call.parts)).sum())
    }
}
