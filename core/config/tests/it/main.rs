//! Tests of configs: what they mean, which mistakes are found, what the shipped skills lead to.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests say what went wrong by panicking"
)]

mod agree;
mod cases;
mod levels;
mod manual;
mod rules;
mod scale;
#[cfg(feature = "schema")]
mod schema;
mod search;
mod skills;
