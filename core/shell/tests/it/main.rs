//! Tests of the shell reader.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "tests say what went wrong by panicking"
)]

mod bash;
mod corpus;
mod holes;
mod paths;
mod steps;
mod second;
mod variables;
mod writers;
