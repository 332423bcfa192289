//! The adapter against what the real client sent, and against the bytes that it must get.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod bad_input;
mod cases;
mod codex;
mod examine;
mod install;
mod tables;
mod ties;
