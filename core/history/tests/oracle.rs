//! The monitors against Dogwood's own interpreter: on its corpus, and on random conditions and traces.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests"
)]

#[path = "oracle/monitors.rs"]
mod monitors;
#[path = "oracle/generator.rs"]
mod generator;
#[path = "oracle/random.rs"]
mod random;
#[path = "oracle/corpus.rs"]
mod corpus;
