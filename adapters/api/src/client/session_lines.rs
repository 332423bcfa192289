//! The files in which a client keeps its sessions, as what its hooks would have sent.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::client::client_record::Recorded;

/// Reads the files in which a client keeps its sessions, line by line. It opens no file.
pub trait SessionLines: std::fmt::Debug + Send + Sync {
    /// The folders below the user's home in which the client keeps them.
    fn folders(&self) -> &'static [&'static str];

    /// Whether a line is one of such a file.
    fn knows(&self, line: &Value) -> bool;

    /// The frames that the client's hooks would have sent for a line. `known` is what earlier lines of the file left.
    fn read(&self, line: &Value, known: &mut BTreeMap<String, Value>) -> SessionLine;
}

/// What a line of a client's session says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionLine {
    /// The frames, in the order in which hooks would have sent them.
    pub frames: Vec<Value>,
    /// How calls ended, where the hooks do not tell it.
    pub ends: Vec<Recorded>,
    /// When it was written, as RFC 3339 writes it, where that is said.
    pub at: Option<String>,
}
