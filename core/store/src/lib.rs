//! phasegate-store: journals on disk, with locks, snapshots and an integrity check.
//!
//! The store keeps the state of sessions and projects. It knows no policy and no platform: a state is a value that it
//! writes and reads. The modules are listed in reading order.

pub mod digest;
pub mod deadline;
pub mod error;
pub mod disk;
pub mod state;
pub mod store;
pub mod file_store;
pub mod memory_store;
mod chain;
pub mod parts;
pub mod aside;
mod tail;
pub mod journal;
pub mod scan;
