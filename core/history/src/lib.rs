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
//! let event = |time, action, kind| Event { time, namespace: "Action", action, kind, fields: &none };
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
//! # How it is wired
//!
//! 1. **Check and reload.** Each file of rules with `temporal` in it goes through `compile::compile(name, text, schemas)`.
//!    `name` is unique to the file, and a Cedar identifier. Its problems carry spans of the text as written, for Cedar's
//!    mistakes too. `Compiled::cedar` then takes the place of the text, and `Compiled::schema` that of the schema.
//!    `Compiled::leaves` are kept with the compiled rules, and [`Leaf::key`] goes into the rules' version.
//! 2. **Evaluation.** At a `tool_call`, for each part of the call that rules are evaluated on, and for each leaf that a
//!    candidate rule reads: [`History::evaluate`] with the part as an event of kind `request`, and the context, principal
//!    and resource of the Cedar request behind [`Request`]. The truth becomes `context.<field>`.
//!    [`Verdict::Unknown`] becomes a value that no rule can look at, so that the rule denies.
//!    [`Scope::Session`] reads the history of the session, [`Scope::Project`] that of the project.
//! 3. **A call is decided.** For each part: [`observe`] over the leaves of each scope, as kind `request`. If the call is
//!    let through, with a warning or without, also as kind `call`. Each [`Observation`] goes into a change of the session or
//!    the project, and [`History::apply`] is all that applying the change does. So a journal replays without rules.
//! 4. **A call ended.** At a `tool_result`, the same for each part of the call that it belongs to, as kind `response`, with
//!    `output` beside the fields of the call. What is no evidence elsewhere (`unproven`, an unknown outcome) has no
//!    `output.ok` and no `output.tests`.
//! 5. **Time.** [`Event::time`] is the event's own. An event without a time must not reach a leaf: its rules deny.
//!    [`observe`] is called for every decided call and every result as soon as rules have a leaf, also for events that
//!    concern none: the clock of the history advances with them.
//! 6. **Reload.** [`History::retain`] with the leaves of the new rules, as a change of its own. A state outlives a reload if
//!    its condition is the same.
//! 7. **Fields.** Give entities only for what the guard established, [`Field::Unclear`] for what cannot be told, and the
//!    same values to the event and to the request. One constructor should make both.

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
