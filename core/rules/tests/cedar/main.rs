//! Rules as texts, compiled and decided.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod broken;
mod decisions;
mod oracle;
mod properties;
mod support;
