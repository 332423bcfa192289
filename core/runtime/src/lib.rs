//! phasegate-runtime: the I/O around the decision.
//!
//! It finds configs, gathers facts, keeps journal and state, and sees to it that an answer goes out in time and is a
//! denial where nothing better can be known. The modules are listed in reading order.

pub mod timestamp;
pub mod bounds;
pub mod deadline;
pub mod locations;
#[cfg(any(test, feature = "testing"))]
pub mod scratch;
pub mod project;
pub mod policies;
pub mod processes;
pub mod clients;
mod protected;
mod effects;
pub mod analysis;
pub mod facts;
pub mod sessions;
pub mod runtime;
pub mod driver;
pub mod operate;

pub use phasegate_store::digest;
pub use phasegate_store::disk::files;

pub use locations::Locations;
pub use project::Project;
pub use runtime::Runtime;
