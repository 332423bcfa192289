//! The program as clients meet it: over standard input and output, and guarded over HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test says what is wrong by failing"
)]

mod guarded;
mod stdio;
