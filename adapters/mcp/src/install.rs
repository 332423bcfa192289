//! The client's list of servers, with the relay before each, and without.

use phasegate_adapter::{Change, InstallRequest, Problem};

/// The changes that put the relay before the servers.
pub(crate) fn install(_request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    Ok(Vec::new())
}

/// The changes that take it away.
pub(crate) fn uninstall(_request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    Ok(Vec::new())
}

/// Why the servers would not be guarded.
pub(crate) fn unguarded(_request: &InstallRequest) -> Option<String> {
    None
}
