//! What this program can do as the shell of a client: the level at which it can hold a line here. Tried once for each client.

use std::path::Path;

use phasegate_adapter::ClientShell;
use phasegate_confine::{Level, Request, probe, work_base};
use phasegate_runtime::Locations;
use phasegate_runtime::clients::client_shell::{Mark, ShellProbe};

use crate::confining::{best, overlaid};

/// What finds that out, where this program can be a shell.
pub(crate) const SHELL_PROBE: Option<ShellProbe> = if cfg!(unix) { Some(probe_here) } else { None };

/// What this program can do as a shell in the project with this root.
pub(crate) fn probe_here(locations: &Locations, root: &Path) -> Mark {
    let overlaid = overlaid(locations, root);
    let Some(work) = work_base(&overlaid) else {
        let refused = "no folder for temporary layers can be used".to_owned();
        return Mark { level: None, unprotected: Some(refused.clone()), refused };
    };
    let protected = vec![locations.state.clone()];
    let protect = Request { protected, ..Request::new(Level::Protect, Vec::new(), work.clone()) };
    let unprotected = probe(&[Level::Protect], &protect).pop().and_then(|probed| probed.refused);
    match best(&Request { overlaid, ..Request::new(Level::Overlay, Vec::new(), work) }) {
        Ok(level) => Mark { level: Some(level.name().to_owned()), refused: String::new(), unprotected },
        Err(refused) => Mark { level: None, refused, unprotected },
    }
}

/// The variables in which clients are told their shells.
pub(crate) fn shell_variables() -> Vec<&'static str> {
    let shells = phasegate_adapters::all().into_iter().filter_map(|adapter| adapter.shell());
    shells.map(ClientShell::variable).filter(|variable| !variable.is_empty()).collect()
}
