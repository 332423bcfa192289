//! Why a command could not be confined.

/// The result of whatever can keep a command from being confined.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command was not run. Nothing of it has run then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel, or this place, refuses a part of the level.
    #[error("{step}: {cause}")]
    Refused {
        /// The part that was refused.
        step: String,
        /// What the kernel says.
        cause: String,
    },
    /// The level does not exist on this system.
    #[error("{0}")]
    Unsupported(String),
    /// The command could not be started, as a shell would say with 126 or 127.
    #[error("`{program}` cannot be started: {cause}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        cause: std::io::Error,
    },
}

#[cfg(target_os = "linux")]
impl Error {
    /// The kernel refused a step.
    pub(crate) fn refused(step: impl Into<String>, cause: impl ToString) -> Self {
        Self::Refused { step: step.into(), cause: cause.to_string() }
    }
}

/// Names the step that an error came from.
#[cfg(target_os = "linux")]
pub(crate) trait Step<T> {
    /// The error with the step that met it.
    fn step(self, step: impl Into<String>) -> Result<T>;
}

#[cfg(target_os = "linux")]
impl<T, E: ToString> Step<T> for std::result::Result<T, E> {
    fn step(self, step: impl Into<String>) -> Result<T> {
        self.map_err(|cause| Error::refused(step, cause))
    }
}
