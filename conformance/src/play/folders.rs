//! Where cases and shell lines are.

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
