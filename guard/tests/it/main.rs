//! Guarded handlers as their clients meet them, over connections in memory.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test says what is wrong by failing")]

mod failing;
mod lock;
mod phases;
mod support;
