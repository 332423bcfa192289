//! What one hook got and what it answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One hook process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The arguments after the program's name.
    pub(crate) args: Vec<String>,
    /// Variables by which the client says how it was started.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) environment: BTreeMap<String, String>,
    /// The texts of the project's own files when it came, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, String>,
    /// What the client's own file says of calls, where the guard reads it for this frame: its lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) record: Vec<String>,
    /// What came on standard input, as it came.
    pub(crate) input: String,
    /// What it answered.
    pub(crate) reply: Reply,
}

/// The answer of one hook process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// The exit status; `None` if a signal ended it.
    pub(crate) status: Option<i32>,
}
