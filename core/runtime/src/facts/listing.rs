//! The files of the project that patterns select, with what stands in them. Links are not followed, and are no files.

use std::collections::BTreeMap;
use std::path::Path;

use ignore::WalkBuilder;
use phasegate_core::values::glob::{choices, path_fits};

use super::budget::Budget;
use super::content::{Content, content};
use super::files::base;
use crate::project::paths::resolve;

/// The most files that are read.
const MAX_FILES: usize = 500;

/// Calls `read` with the bytes of each file that one of the patterns selects. The answers by path; `None` if a file cannot
/// be read, or if there is too much.
pub(super) fn each<T>(root: &Path, patterns: &[String], read: &dyn Fn(&[u8]) -> T) -> Option<BTreeMap<String, T>> {
    let (mut budget, mut found) = (Budget::begin(), BTreeMap::new());
    for pattern in patterns.iter().flat_map(|pattern| choices(pattern)) {
        let at = base(&pattern);
        // Where a link stands on the way, other files lie there than the path says.
        let real = resolve(root, Path::new(at)).filter(|real| *real == root.join(at))?;
        if real.symlink_metadata().is_err() {
            continue;
        }
        for entry in WalkBuilder::new(&real).standard_filters(false).build() {
            budget.entry()?;
            let Ok(entry) = entry else { continue };
            let inside = entry.path().strip_prefix(&real).ok()?.to_string_lossy();
            let path = [at, &inside].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !is_file || !path_fits(&pattern, &path) || found.contains_key(&path) {
                continue;
            }
            match content(root, &path) {
                Content::Bytes(bytes) if found.len() < MAX_FILES && !budget.is_late() => {
                    drop(found.insert(path, read(&bytes)))
                }
                Content::Absent => {}
                Content::Bytes(_) | Content::Unknown => return None,
            }
        }
    }
    Some(found)
}
