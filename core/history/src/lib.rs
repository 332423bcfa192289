//! phasegate-history: conditions over what happened before, as rules read them.
//!
//! A [`Leaf`] is a compiled condition: plain data. A [`History`] is a bounded state, [`observe`] says what an event adds to
//! it, [`History::apply`] adds that, and [`History::evaluate`] decides a condition at a call. All are pure: an event brings
//! its own time. Under the feature `compile`, `compile` makes leaves from rules written in Dogwood.
//! `docs/history.md` says what one can write, and what each operator means.
//!
//! ```
//! use phasegate_history::leaf::{Condition, Param, Pattern, Window};
//! use phasegate_history::plan::Body;
//! use phasegate_history::{Event, History, Leaf, Request, Scope, Value, Verdict, observe};
//!
//! // formerly within 1h Action::"Read"::response{}
//! let read = Pattern {
//!     namespace: "Action".into(), action: "Read".into(), kind: "response".into(),
//!     equal: vec![], present: vec![], compared: vec![],
//! };
//! let condition = Condition::Formerly(Window { within: 3_600_000, table: 0 }, Box::new(Condition::Matches(0)));
//! let body = Body { patterns: vec![read], params: vec![], variables: 0, condition };
//! let leaf = Leaf::new("read_before", Scope::Session, body);
//!
//! struct Call;
//! impl Request for Call {
//!     fn param(&self, _: &Param) -> Option<Value> {
//!         None
//!     }
//! }
//! let none = serde_json::json!({});
//! let event = |time, action, kind| Event { time, namespace: "Action", action, also: &[], kind, fields: &none };
//! let mut history = History::default();
//! assert_eq!(history.evaluate(&leaf, &event(0, "Edit", "request"), &Call), Verdict::False);
//! history.apply(&observe([&leaf], &event(1, "Read", "response")));
//! assert_eq!(history.evaluate(&leaf, &event(2, "Edit", "request"), &Call), Verdict::True);
//! ```
//!
//! # How it works
//!
//! To a temporal operator without others inside it, two events are equal if they match the same patterns with the same
//! compared values. For `formerly`, `since` and `previous` only the latest of equal events matters, so a table keeps one
//! entry for each class of events. A count that is compared with a number needs that many and one more. Everything else
//! keeps all events of its window. `plan` works out which it is; `evaluate` reads the tables as if they were the history.
//!
//! # What its caller does
//!
//! * A [`Leaf::field`] becomes a field of the context of Cedar, with the truth of [`History::evaluate`] at the call that is
//!   decided. [`Verdict::Unknown`] becomes a value that no rule can look at, so that the rule denies.
//! * Each event goes through [`observe`], also one that concerns no condition: the clock of the history goes on with it.
//!   [`History::apply`] is all that taking it in does, so a journal of observations replays without rules.
//! * The event and the request have the same values, with entities only for what the guard established and
//!   [`Field::Unclear`] for what cannot be told.

#![no_std]
extern crate alloc;
#[cfg(feature = "compile")]
extern crate std;

pub mod value;
pub mod leaf;
pub mod plan;
pub mod event;
pub mod state;
pub mod evaluate;
pub mod vacuity;
#[cfg(feature = "compile")]
pub mod compile;

pub use evaluate::Verdict;
pub use event::{Event, Field, Fields, Request};
pub use leaf::{Leaf, Scope, TableSpec};
pub use state::{Cause, History, Observation, observe};
pub use vacuity::{Vacuity, vacuity};
pub use value::Value;
