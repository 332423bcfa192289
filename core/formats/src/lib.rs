//! phasegate-formats: what phasegate writes to disk and reads back.
//!
//! A domain type can change without a change of these formats, and a format can change without a change of a domain
//! type. The format has a version number, and no other version is read.
//! The modules are listed in reading order.

pub mod journal;
pub mod tagged;
pub mod context;
pub mod compact_decision;
pub mod line;
