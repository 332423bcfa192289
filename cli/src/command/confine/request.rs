//! What a command may change, from the folder that it runs in.

use std::path::{Path, PathBuf};

use phasegate_confine::{Level, Request, work_base};

use crate::context::Context;
use crate::output::Failure;

/// A request for the home and the project of the current folder, without a command.
pub(super) fn request(level: Level, context: &Context) -> Result<Request, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?.root;
    let home = runtime.locations.home.canonicalize().unwrap_or(runtime.locations.home);
    // A layer over `/` would lie over itself.
    let mut overlaid: Vec<PathBuf> = [home, project].into_iter().filter(|folder| lies_deep(folder)).collect();
    overlaid.sort();
    overlaid.dedup();
    let work = work_base(&overlaid).ok_or_else(|| {
        Failure::new("no folder for temporary layers can be used").with_help("make `/var/tmp` writable")
    })?;
    Ok(Request { overlaid, ..Request::new(level, Vec::new(), work) })
}

fn lies_deep(folder: &Path) -> bool {
    folder.is_dir() && folder.parent().is_some()
}
