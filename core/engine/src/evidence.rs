//! Evidence: what completes a phase, which facts are asked for it, and what of it is missing.

pub(crate) mod phase_conditions;
pub mod object;
pub mod content;
pub mod fact;
pub mod fact_test;
pub mod format;
pub mod artifact;
pub mod condition;
pub mod proof;
pub(crate) mod eval;
pub(crate) mod missing;
