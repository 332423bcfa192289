//! One call in one run: its situation, the table that decides it, and what that means for each live run.

#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod table;
pub(crate) mod graph;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub(crate) mod judge;
pub(crate) mod reach;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub(crate) mod branch_start;
pub(crate) mod run_verdict;
pub(crate) mod trial;
pub(crate) mod unprompted;

pub use table::{Done, Line, Next, Returns, Situation, decide};
