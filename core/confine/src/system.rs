//! The mechanism of the system that this is built for.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::Result;
use crate::level::Level;
use crate::mechanism::{Mechanism, Probed};
use crate::report::Report;
use crate::request::Request;

/// The mechanism of this system.
pub fn mechanism() -> &'static dyn Mechanism {
    #[cfg(target_os = "linux")]
    return &crate::linux::Linux;
    #[cfg(not(target_os = "linux"))]
    return &crate::unconfined::Unconfined;
}

/// The folder for work folders of this user, which lies in none of these folders. An overlay cannot lie over its own layer.
pub fn work_base(overlaid: &[PathBuf]) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return crate::linux::work::base(overlaid);
    #[cfg(not(target_os = "linux"))]
    return overlaid.is_empty().then(std::env::temp_dir);
}

/// Runs the stage that this process was started for, if it was. A program calls it first in its `main`.
pub fn stage() -> Option<ExitCode> {
    mechanism().stage()
}

/// Runs a command confined, see [`Mechanism::run`].
///
/// # Errors
///
/// As for [`Mechanism::run`].
pub fn run(request: &Request) -> Result<Report> {
    mechanism().run(request)
}

/// Says of each of the levels whether it works for a request. The request's own level does not count.
pub fn probe(levels: &[Level], request: &Request) -> Vec<Probed> {
    let each = levels.iter().map(|level| {
        let request = Request { level: *level, command: Vec::new(), ..request.clone() };
        Probed { level: *level, refused: mechanism().try_level(&request).err().map(|error| error.to_string()) }
    });
    each.collect()
}
