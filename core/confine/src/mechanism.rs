//! What an operating system offers, behind one trait.

use std::process::ExitCode;

use serde::Serialize;

use crate::error::Result;
use crate::level::Level;
use crate::report::Report;
use crate::request::Request;

/// Whether a level works here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Probed {
    /// The level.
    pub level: Level,
    /// Why it does not work; nothing if it does.
    pub refused: Option<String>,
}

/// The way in which a system confines commands.
pub trait Mechanism: Sync {
    /// Enters a level in another process as the request says, runs nothing there, and says what was refused.
    ///
    /// # Errors
    ///
    /// The level does not work here.
    fn try_level(&self, request: &Request) -> Result<()>;

    /// Runs the command of a request at its level.
    ///
    /// At [`Level::Protect`] the command takes the place of this process, so this returns only if it fails.
    /// At the other levels this process stays in the namespaces of the command; it should do little else and end.
    ///
    /// # Errors
    ///
    /// The level does not work here, or the program cannot be started. Then nothing has run.
    fn run(&self, request: &Request) -> Result<Report>;

    /// The text of the profile that would hold a command, for a system whose levels were never tried.
    fn profile(&self, request: &Request) -> Option<String>;

    /// Ends the process if it was started as a stage of another one's [`Mechanism::run`].
    fn stage(&self) -> Option<ExitCode>;
}
