//! What a monitor remembers of the past: bounded tables, and until when they tell too little.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Matches};
use crate::leaf::{Leaf, TableSpec};
use crate::value::Value;

/// How many past events one table keeps at most. With one more, the leaf is unknown for as long as it looks back.
pub const MAX_TABLE_EVENTS: usize = 512;
/// How many bytes of field values one table keeps at most.
pub const MAX_TABLE_BYTES: usize = 32 * 1024;
/// By how many milliseconds an event may be older than the latest. It then counts as one of the latest time.
pub const CLOCK_TOLERANCE: i64 = 60_000;

/// The past, as the conditions of a session or of a project need it, by [`Leaf::key`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The latest time of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<i64>,
    /// The latest time of an event when the clock was last seen to be set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) set_back: Option<i64>,
    /// One state for each condition that has met an event which concerns it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) leaves: BTreeMap<String, LeafState>,
}

/// What one condition keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeafState {
    /// The number that the next event gets.
    #[serde(rename = "n")]
    pub(crate) next: u64,
    /// Until when it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<Unknown>,
    /// One for each outermost temporal operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tables: Vec<Table>,
}

/// A time in which a condition is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unknown {
    /// Its last millisecond.
    pub(crate) until: i64,
    pub(crate) cause: Cause,
}

/// Why a condition is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// More events than are kept.
    Overflow,
    /// The clock was set back by more than [`CLOCK_TOLERANCE`].
    Clock,
    /// An event had a field that could not be told.
    Unclear,
    /// The evaluation needed too many steps.
    Steps,
}

/// The past events of one temporal operator: for each kind of match, when it happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Table {
    /// In the order of their matches.
    pub(crate) classes: Vec<Class>,
}

/// Events that are equal to the condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Class {
    /// The patterns that they match, with the values of the compared fields.
    #[serde(rename = "m")]
    pub(crate) matches: Matches,
    /// The number and time of each, in order.
    #[serde(rename = "at")]
    pub(crate) seen: Vec<Occurrence>,
}

/// The number and the time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Occurrence(pub(crate) u64, pub(crate) i64);

/// What one event adds to the state. A journal stores it; [`History::apply`] needs nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The event's own time.
    pub time: i64,
    /// What it adds to each condition that it concerns, by [`Leaf::key`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub leaves: BTreeMap<String, Added>,
}

/// What an event adds to the state of one condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Added {
    /// A row for each of [`Leaf::tables`].
    Rows(Vec<Row>),
    /// It cannot be told; the condition looks back so many milliseconds.
    Unclear(i64),
}

/// What an event adds to one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// See [`crate::TableSpec::horizon`].
    pub horizon: i64,
    /// See [`crate::TableSpec::keep`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
    /// The matched patterns with the values of their compared fields; absent: the table keeps nothing of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<(u16, Vec<Value>)>>,
}

impl Leaf {
    /// What `event` adds to the state; nothing, if the condition cannot tell it from no event.
    fn added(&self, event: &Event<'_>) -> Option<Added> {
        let Ok(matches) = self.matches(event) else { return Some(Added::Unclear(self.horizon())) };
        if matches.is_empty() && !self.tables.iter().any(|table| table.others) {
            return None;
        }
        let row = |table: &TableSpec| {
            let own = matches.iter().filter(|(pattern, _)| table.patterns.binary_search(pattern).is_ok());
            let own: Matches = own.cloned().collect();
            let kept = table.others || !own.is_empty();
            Row { horizon: table.horizon, keep: table.keep, matches: kept.then_some(own) }
        };
        let rows: Vec<Row> = self.tables.iter().map(row).collect();
        rows.iter().any(|row| row.matches.is_some()).then_some(Added::Rows(rows))
    }

    /// How far back the condition looks, in milliseconds.
    #[must_use]
    pub fn horizon(&self) -> i64 {
        self.tables.iter().map(|table| table.horizon).max().unwrap_or(0)
    }
}

/// What `event` adds to the state of `leaves`. Conditions with one key are equal, and are observed once.
pub fn observe<'l>(leaves: impl IntoIterator<Item = &'l Leaf>, event: &Event<'_>) -> Observation {
    let mut added = BTreeMap::new();
    for leaf in leaves {
        if !added.contains_key(&leaf.key)
            && let Some(own) = leaf.added(event)
        {
            added.insert(leaf.key.clone(), own);
        }
    }
    Observation { time: event.time, leaves: added }
}

impl History {
    /// Takes an event into the state. This is the only way in which an event changes it.
    pub fn apply(&mut self, observation: &Observation) {
        let clock = self.clock.unwrap_or(observation.time);
        if observation.time < clock.saturating_sub(CLOCK_TOLERANCE) {
            self.set_back = Some(clock);
        }
        let now = clock.max(observation.time);
        self.clock = Some(now);
        for (key, added) in &observation.leaves {
            let state = self.leaves.entry(key.clone()).or_default();
            match added {
                Added::Rows(rows) => state.add(rows, now),
                Added::Unclear(horizon) => state.unknown(now.saturating_add(*horizon), Cause::Unclear),
            }
        }
    }

    /// Why too little is known at `time` to tell whether `leaf` holds.
    pub(crate) fn unknown_at(&self, time: i64, leaf: &Leaf) -> Option<Cause> {
        let clock = self.clock.unwrap_or(time);
        let now = clock.max(time);
        let set_back = self.set_back.is_some_and(|back| now <= back.saturating_add(leaf.horizon()));
        if set_back || time < clock.saturating_sub(CLOCK_TOLERANCE) {
            return Some(Cause::Clock);
        }
        let unknown = self.leaves.get(&leaf.key).and_then(|state| state.unknown);
        unknown.filter(|unknown| now <= unknown.until).map(|unknown| unknown.cause)
    }

    /// Forgets the states of conditions whose [`Leaf::key`] is not among `keys`.
    pub fn retain(&mut self, keys: &[String]) {
        self.leaves.retain(|key, _| keys.contains(key));
    }

    /// The keys of the conditions that it keeps something for, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.leaves.keys().map(String::as_str)
    }

    /// The latest time of an event that it has seen, in milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn clock(&self) -> Option<i64> {
        self.clock
    }

    /// Whether it has seen no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl LeafState {
    fn add(&mut self, rows: &[Row], now: i64) {
        if self.unknown.is_some_and(|unknown| now > unknown.until) {
            self.unknown = None;
        }
        self.tables.resize_with(rows.len(), Table::default);
        let mut overflows = false;
        for (table, row) in self.tables.iter_mut().zip(rows) {
            table.forget_before(now.saturating_sub(row.horizon));
            if let Some(matches) = &row.matches {
                table.insert(matches, row.keep, Occurrence(self.next, now));
            }
            overflows |= table.too_large();
        }
        if overflows {
            let horizon = rows.iter().map(|row| row.horizon).max().unwrap_or(0);
            self.tables.iter_mut().for_each(|table| table.classes.clear());
            self.unknown(now.saturating_add(horizon), Cause::Overflow);
        }
        self.next = self.next.saturating_add(1);
    }

    fn unknown(&mut self, until: i64, cause: Cause) {
        if self.unknown.is_none_or(|unknown| unknown.until < until) {
            self.unknown = Some(Unknown { until, cause });
        }
    }
}

impl Table {
    fn forget_before(&mut self, time: i64) {
        for class in &mut self.classes {
            let old = class.seen.partition_point(|Occurrence(_, seen)| *seen < time);
            class.seen.drain(..old);
        }
        self.classes.retain(|class| !class.seen.is_empty());
    }

    fn insert(&mut self, matches: &Matches, keep: Option<u32>, at: Occurrence) {
        match self.classes.binary_search_by(|class| class.matches.cmp(matches)) {
            Ok(found) => {
                if let Some(class) = self.classes.get_mut(found) {
                    class.seen.push(at);
                    let most = keep.map_or(usize::MAX, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
                    let surplus = class.seen.len().saturating_sub(most);
                    class.seen.drain(..surplus);
                }
            }
            Err(place) => self.classes.insert(place, Class { matches: matches.clone(), seen: alloc::vec![at] }),
        }
    }

    fn too_large(&self) -> bool {
        let values =
            |class: &Class| class.matches.iter().flat_map(|(_, values)| values).map(Value::size).sum::<usize>();
        self.classes.iter().map(|class| class.seen.len()).sum::<usize>() > MAX_TABLE_EVENTS
            || self.classes.iter().map(values).sum::<usize>() > MAX_TABLE_BYTES
    }
}
