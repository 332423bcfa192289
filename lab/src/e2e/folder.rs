//! Where the scenarios and reports of a client are.

use std::path::{Path, PathBuf};

/// The folder, from the workspace's root.
pub(super) fn folder(client: &str) -> PathBuf {
    Path::new("conformance/faults").join(client)
}
