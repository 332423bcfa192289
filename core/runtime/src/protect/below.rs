//! What of the guard lies below a folder.

use std::path::{Path, PathBuf};

use phasegate_core::tool::Part;

use super::{Protected, inner};

impl Protected<'_> {
    /// What of the guard lies below the folder, which is absolute and without links: its path from there, whether it exists
    /// or not.
    pub(crate) fn below(&self, folder: &Path) -> Vec<(PathBuf, Part)> {
        let mut all = Vec::new();
        for (place, part, reach) in &self.places {
            if !place.starts_with(folder) {
                continue;
            }
            let paths = std::iter::once(place.clone()).chain(inner(place, *reach));
            let from_there = paths.filter_map(|path| path.strip_prefix(folder).ok().map(Path::to_path_buf));
            all.extend(from_there.filter(|path| !path.as_os_str().is_empty()).map(|path| (path, *part)));
        }
        all
    }
}
