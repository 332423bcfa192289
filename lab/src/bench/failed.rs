//! Why a measurement cannot be made.

use xtask::failure::Failure;

/// The failure of a measurement.
pub(super) fn failed(what: impl std::fmt::Display) -> Failure {
    Failure::new(format!("bench: {what}"))
}
