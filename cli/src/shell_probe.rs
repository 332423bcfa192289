//! What this program can do as the shell of a client: the level at which it can hold a line here. Tried once for each client.

use std::path::{Path, PathBuf};

use phasegate_confine::{Level, Request, probe, work_base};
use phasegate_runtime::Locations;
use phasegate_runtime::client_shell::{Mark, ShellProbe};

/// What finds that out, where this program can be a shell.
pub(crate) const SHELL_PROBE: Option<ShellProbe> = if cfg!(unix) { Some(probe_here) } else { None };

/// What this program can do as a shell in the project with this root.
pub(crate) fn probe_here(locations: &Locations, root: &Path) -> Mark {
    let overlaid = overlaid(locations, root);
    let Some(work) = work_base(&overlaid) else {
        return Mark { level: None, refused: "no folder for temporary layers can be used".to_owned() };
    };
    let request = Request { overlaid, ..Request::new(Level::Overlay, Vec::new(), work) };
    let mut refused = Vec::new();
    for level in Level::READ_ONLY {
        let Some(probed) = probe(&[level], &request).pop() else { continue };
        match probed.refused {
            None => return Mark { level: Some(level.name().to_owned()), refused: refused.join("; ") },
            Some(cause) => refused.push(format!("{level}: {cause}")),
        }
    }
    Mark { level: None, refused: refused.join("; ") }
}

/// The folders over which a layer lies: the home and the project. A layer over `/` would lie over itself.
pub(crate) fn overlaid(locations: &Locations, root: &Path) -> Vec<PathBuf> {
    let home = locations.home.canonicalize().unwrap_or_else(|_| locations.home.clone());
    let mut folders = vec![home, root.to_path_buf()];
    folders.retain(|folder| folder.is_dir() && folder.parent().is_some());
    folders.sort();
    folders.dedup();
    folders
}
