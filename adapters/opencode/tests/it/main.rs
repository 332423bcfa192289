//! The adapter against what the real client's plugin sent, and against messages that are none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod bad_input;
mod cases;
mod changed;
mod examine;
mod install;
mod tables;
mod ties;
