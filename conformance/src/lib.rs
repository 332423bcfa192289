//! phasegate-conformance: one suite for every platform.
//!
//! Five checks, so that a failure says where it is: **decide** (neutral stories), **decode** and **encode** (frames
//! recorded from the real client), **session** (whole recorded sessions through the real binary), **judge** (shell lines).
//! A case is a file; the modules are listed in reading order.

pub mod play;
mod blessing;
pub mod trial;
pub mod compare;
pub mod texts;
pub mod upstream;
pub mod expected;
mod loading;
mod shell;
pub mod platform;
mod harmless;
pub mod suite;
pub mod report;

pub use blessing::bless_from_now_on;
pub use play::folders::cases;
