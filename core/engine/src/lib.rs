//! phasegate-core: the decision, and nothing else.
//!
//! One pure function, [`step`], decides an event; [`State::apply`] applies the changes that it answers.
//! No files, no clock, no randomness, no async: the crate has no `std` to reach them with.
//! The modules are listed in reading order.

#![no_std]
extern crate alloc;

pub mod example;
pub mod tool;
pub mod event;
pub mod matcher;
pub mod shortened;
pub mod fact;
pub mod condition;
pub mod policy;
pub mod state;
pub mod code;
pub mod change;
mod apply;
mod draft;
pub mod record;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub mod decide;
pub mod decision;
mod eval;
mod graph;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod judge;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod moves;
pub mod pins;
mod observe;
mod control;
mod joining;
pub mod spoken;
mod guidance;
mod protection;
mod call;
mod obligation;
pub mod step;

pub use change::{Change, Durability};
pub use code::Code;
pub use control::COMMANDS;
pub use decision::{Decision, Effect};
pub use event::{Event, EventKind};
pub use fact::{Fact, FactKey, FactValue, Facts};
pub use policy::Policy;
pub use record::{Record, records};
pub use state::State;
pub use step::{Outcome, RunPosition, step};
