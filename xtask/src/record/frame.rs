//! What one hook got and what it answered.

use serde::{Deserialize, Serialize};

/// One hook process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    /// The arguments after the program's name.
    pub(super) args: Vec<String>,
    /// What came on standard input, as it came.
    pub(super) input: String,
    /// What it answered.
    pub(super) reply: Reply,
}

/// The answer of one hook process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reply {
    /// Standard output.
    pub(super) stdout: String,
    /// Standard error.
    pub(super) stderr: String,
    /// The exit status; `None` if a signal ended it.
    pub(super) status: Option<i32>,
}
