//! A system on which nothing can be confined yet.

use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::mechanism::Mechanism;
use crate::report::Report;
use crate::request::Request;

/// Refuses every level, and says on macOS which profile would hold it.
pub(crate) struct Unconfined;

impl Mechanism for Unconfined {
    fn try_level(&self, request: &Request) -> Result<()> {
        Err(refused(request))
    }

    fn run(&self, request: &Request) -> Result<Report> {
        Err(refused(request))
    }

    fn profile(&self, request: &Request) -> Option<String> {
        #[cfg(target_os = "macos")]
        return Some(crate::seatbelt::profile(request));
        #[cfg(not(target_os = "macos"))]
        {
            let _ = request;
            None
        }
    }

    fn stage(&self) -> Option<ExitCode> {
        None
    }
}

fn refused(request: &Request) -> Error {
    let system = std::env::consts::OS;
    Error::Unsupported(format!("`{}` was never tried on {system}, so it is not offered there", request.level))
}
