//! What the doctor is asked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phasegate_adapter::Adapter;

use crate::clients::client_shell::ShellProbe;

/// What the doctor looks at besides the project.
#[derive(Clone)]
pub struct Asked<'a> {
    /// The platforms.
    pub adapters: &'a [&'static dyn Adapter],
    /// The command that `init` writes into settings: an absolute path, or a name found through `PATH`.
    pub command: String,
    /// The folder that it stands in: what a client that is started there loads matters.
    pub start: PathBuf,
    /// What finds out how this program can hold lines as a client's shell.
    pub shell_probe: Option<ShellProbe>,
    /// The variables in which clients are told their shells.
    pub shell_variables: Vec<&'static str>,
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
}
