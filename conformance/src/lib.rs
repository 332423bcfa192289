//! phasegate-conformance: one suite for every platform.
//!
//! Five checks, so that a failure says where it is: **decide** (neutral stories), **decode** and **encode** (frames
//! recorded from the real client), **session** (whole recorded sessions through the real binary), **judge** (shell lines).
//! A case is a file; the modules are listed in reading order.

pub mod trial;
pub mod compare;
pub mod case;
pub mod driver;
pub mod story;
pub mod walkthrough;
pub mod upstream;
pub mod session;
pub mod player;
pub mod demo;
pub mod platform;
mod frames;
mod shell;
pub mod expected;
pub mod suite;
pub mod report;

use std::path::PathBuf;

/// Where the shell lines are.
pub(crate) fn shell_lines() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/shell"))
}

/// Where the cases are.
#[must_use]
pub fn cases() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"))
}
