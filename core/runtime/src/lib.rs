//! phasegate-runtime: the I/O around the decision.
//!
//! It finds configs, gathers facts, keeps journal and state, and sees to it that an answer goes out in time and is a
//! denial where nothing better can be known. The modules are listed in reading order.

pub mod locations;
pub mod project;
pub mod paths;
pub mod discover;
pub mod policy_store;
mod protect;
pub mod reading;
mod elsewhere;
pub mod wiring;
pub mod facts;
mod disk;
#[cfg(test)]
mod scratch;
mod seal;
mod place;
pub mod journal;
pub mod ancestors;
pub mod kept;
mod witness;
mod joining;
mod transaction;
pub mod audit;
pub mod stance;
pub mod runtime;
mod frames;
mod probe;
mod host;
mod resident;
pub mod guard;
pub mod deadline;
pub mod hook;
pub mod heartbeat;
pub mod bridge;
pub mod sessions;
pub mod commander;
pub mod reload;
pub mod doctor;
pub mod verify;
pub mod retention;
pub mod replay;
pub mod digest;
pub mod files;

pub use guard::ProjectGuard;
pub use locations::Locations;
pub use project::Project;
pub use runtime::Runtime;
