//! Frames and replies: the bytes that go in and out.

use std::collections::BTreeMap;

/// One native message, as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The bytes as the platform sent them, read or not.
    pub bytes: Vec<u8>,
    /// The variables of the environment that adapters may read, for example a platform's project folder.
    pub environment: BTreeMap<String, String>,
}

impl Frame {
    /// A frame with these bytes and no environment.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), environment: BTreeMap::new() }
    }
}

/// The one reply to a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What goes to standard output, and nothing else does.
    pub stdout: Vec<u8>,
    /// What goes to standard error.
    pub stderr: Vec<u8>,
    /// The exit status of the process that answers.
    pub status: u8,
}

impl Reply {
    /// Nothing to say: the platform goes on as it would without a guard.
    #[must_use]
    pub fn silent() -> Self {
        Self::default()
    }
}
