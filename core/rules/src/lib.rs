//! phasegate-rules: rules over calls, written in Cedar.
//!
//! A [`Ruleset`] is compiled rules: plain data. [`Ruleset::decide`] judges a [`Request`] by them. Both are pure and know
//! nothing of Cedar. Under the feature `compile`, `compile` makes rules from texts in Cedar's language.
//!
//! ```
//! use phasegate_rules::{Action, Default, Principal, Request, Ruleset, Value};
//!
//! let request = Request::new(Principal::main("s1"), Action::new("Bash", ["execute", "shell"]), Value::Unknown);
//! assert_eq!(Ruleset::new(Default::Permit, vec![]).decide(&request), None);
//! let deny = Ruleset::new(Default::Deny, vec![]);
//! assert!(deny.decide(&request).is_some_and(|verdict| verdict.rule.is_none()));
//! ```
//!
//! # How it differs from Cedar
//!
//! * A rule that cannot be evaluated for a call denies it; Cedar passes over such a rule.
//! * A value may be unknown ([`Value::Unknown`]), as a word that a shell computes. A `forbid` that may hold denies, and a
//!   `permit` counts only if it surely holds.
//! * A call has parts, the simple commands of a shell line and the paths that it accesses. A `forbid` denies the call if it
//!   holds of one part, and each part needs a `permit`.
#![no_std]

extern crate alloc;
#[cfg(feature = "compile")]
extern crate std;

mod value;
mod expr;
mod rule;
mod known;
mod request;
mod evaluate;
mod decide;
mod tools;
#[cfg(feature = "compile")]
pub mod compile;

pub use decide::{Held, Verdict, known};
pub use expr::{Expr, Literal, Op, Piece, Var};
pub use known::Known;
pub use request::{Action, Facts, Part, Principal, Request, action_id};
pub use rule::{ActionScope, Default, Effect, Rule, RuleKind, Ruleset, Scope};
pub use tools::{GUARD, Kind, ToolShape, builtin, builtin_argument, is_own_action};
pub use value::{Entity, Record, Shape, Truth, Value};
