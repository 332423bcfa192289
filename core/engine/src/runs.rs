//! Runs: how they begin, move from phase to phase, have child runs, and end.

pub(crate) mod new_run;
pub mod inputs;
pub(crate) mod inheritance;
pub mod import;
pub(crate) mod activation;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub(crate) mod moves;
pub(crate) mod tree;
pub(crate) mod waves;
pub(crate) mod children;
pub(crate) mod settle;
pub(crate) mod holding;
pub(crate) mod standing_runs;
pub(crate) mod start;
pub(crate) mod finish;
