//! phasegate-runtime: the I/O around the decision.
//!
//! It finds configs, gathers facts, keeps journal and state, and sees to it that an answer goes out in time and is a
//! denial where nothing better can be known. The modules are listed in reading order.

pub mod locations;
pub mod paths;
pub mod deadline;
pub mod digest;
pub mod facts;
pub mod files;
pub mod journal;
pub mod reading;
