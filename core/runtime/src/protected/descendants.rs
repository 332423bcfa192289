//! What of the guard lies below a folder.

use std::path::{Path, PathBuf};

use phasegate_core::analysis::Part;

use super::Protected;
use super::protected_path::{fold, inner};
use crate::locations::CONFIG_FOLDER;

impl Protected<'_> {
    /// What of the guard lies below the folder, which is absolute and without links: its path from there, whether it exists
    /// or not.
    pub(crate) fn below(&self, folder: &Path) -> Vec<(PathBuf, Part)> {
        let mut all = Vec::new();
        for protected in &self.places.paths {
            let place = &protected.path;
            if !place.starts_with(folder) {
                continue;
            }
            let paths = std::iter::once(place.clone()).chain(inner(place, protected.reach));
            let from_there = paths.filter_map(|path| path.strip_prefix(folder).ok().map(Path::to_path_buf));
            all.extend(from_there.filter(|path| !path.as_os_str().is_empty()).map(|path| (path, protected.part)));
        }
        all
    }

    /// Whether a name is one with which a place of the guard's begins that clients read in every folder of a project.
    pub(crate) fn begins_place(&self, name: &str) -> bool {
        let name = fold(name);
        name == CONFIG_FOLDER || self.places.names.iter().any(|place| place.begins_with(&name))
    }

    /// Whether the folder is in a guarded project.
    pub(crate) fn is_guarded(&self) -> bool {
        self.root.is_some()
    }

    /// Whether a path lies in the project, where what clients look for is protected already.
    pub(crate) fn is_inside(&self, path: &Path) -> bool {
        self.root.as_deref().is_some_and(|root| path.starts_with(root))
    }
}
