//! phasegate-formats: what phasegate writes to disk and reads back.
//!
//! A domain type can change without a change of these formats, and a format can change without a change of a domain
//! type. Each format has a version number; a reader turns what an older version wrote into the current form.
//! The modules are listed in reading order.

pub mod merge_patch;
pub mod journal;
pub mod tagged;
pub mod context;
pub mod compact_decision;
pub mod version1;
pub mod version2;
