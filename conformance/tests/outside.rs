//! An adapter that an outsider wrote passes the checks that it claims: the example of `phasegate-adapter`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;

use phasegate_conformance::play::frames::outside::check;

#[path = "../../adapters/api/examples/echo.rs"]
#[allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::wildcard_imports,
    clippy::print_stdout,
    reason = "an example"
)]
mod echo;

#[test]
fn the_example_passes() {
    let mismatches = check(&echo::Echo, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/echo"));
    assert!(mismatches.is_empty(), "{mismatches:#?}");
}

#[test]
fn a_folder_without_cases_does_not_pass() {
    assert!(!check(&echo::Echo, Path::new("/nonexistent")).is_empty());
}
