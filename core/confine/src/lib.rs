//! A command run confined: the kernel keeps what it may not change.
//!
//! [`run`] runs a command at a [`Level`]. At a read-only level nothing of it stays but what the caller names, and the
//! [`Report`] lists what did not stay. At [`Level::Protect`] the command runs as without, and some folders cannot change.
//! [`probe`] says which levels this place gives.
//!
//! The program starts itself anew to enter a level, because only a process with one thread can. So a program that uses
//! this crate calls [`stage`] first in its `main`. Nothing here needs unsafe code: new namespaces come from `unshare` and
//! a new process, never from a fork.

mod error;
mod level;
mod request;
mod report;
mod mechanism;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
#[cfg(not(target_os = "linux"))]
mod unconfined;
mod system;

pub use error::{Error, Result};
pub use level::Level;
pub use mechanism::{Mechanism, Probed};
pub use report::{Change, Kind, Report};
pub use request::{Cache, Fake, Request};
pub use system::{mechanism, probe, run, stage, work_base};
