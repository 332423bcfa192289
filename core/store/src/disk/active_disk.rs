//! The disk in use.

#[cfg(not(feature = "faulty-disk"))]
use crate::disk::Real;
#[cfg(feature = "faulty-disk")]
use crate::disk::faulty::Watched;

/// The disk of the machine.
#[cfg(not(feature = "faulty-disk"))]
pub fn disk() -> Real {
    Real
}

/// The disk of the machine, watched by the test that runs on this thread if it asked for that.
#[cfg(feature = "faulty-disk")]
pub fn disk() -> Watched {
    Watched
}
