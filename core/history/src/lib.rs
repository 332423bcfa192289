//! phasegate-history: conditions over what happened before.

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
