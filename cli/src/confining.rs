//! Commands that keep no change: over which folders a layer lies, the best level, and what is told of what was not kept.

use std::path::{Path, PathBuf};

use phasegate_confine::{Change, Level, Report, Request, probe};
use phasegate_runtime::Locations;

/// The most changes that are told as text.
const MOST: usize = 20;

/// The folders over which a layer lies: the home and the project. A layer over `/` would lie over itself.
pub(crate) fn overlaid(locations: &Locations, root: &Path) -> Vec<PathBuf> {
    let home = locations.home.canonicalize().unwrap_or_else(|_| locations.home.clone());
    let mut folders = vec![home, root.to_path_buf()];
    folders.retain(|folder| folder.is_dir() && folder.parent().is_some());
    folders.sort();
    folders.dedup();
    folders
}

/// The best level that works here.
///
/// # Errors
///
/// None does, and why.
pub(crate) fn best(request: &Request) -> Result<Level, String> {
    let mut causes = Vec::new();
    for level in Level::READ_ONLY {
        let Some(probed) = probe(&[level], request).pop() else { continue };
        match probed.refused {
            None => return Ok(level),
            Some(cause) => causes.push(format!("{level}: {cause}")),
        }
    }
    Err(causes.join("; "))
}

/// What is told of what was not kept, a line each.
pub(crate) fn not_kept(report: &Report) -> Vec<String> {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut lines: Vec<String> = report.changes.iter().take(MOST).map(|change| line(change, &folder)).collect();
    let more = report.changes.len().saturating_sub(MOST) + report.more;
    if more > 0 {
        lines.push(format!("not kept: {more} more"));
    }
    lines
}

/// One letter and the path, as git would write them.
fn line(change: &Change, folder: &Path) -> String {
    let path = Path::new(&change.path);
    format!("not kept: {} {}", change.kind.letter(), path.strip_prefix(folder).unwrap_or(path).display())
}
