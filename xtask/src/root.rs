//! Where the workspace is, and reading and writing its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The workspace's root folder: the one that cargo runs this program from, else the one that it was built in.
pub fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let own = Path::new(&own);
    own.parent().unwrap_or(own).to_path_buf()
}

/// The folder that builds go to.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A file's text.
pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Failure::file(path, error))
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, text: &str) -> Result {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    }
    fs::write(path, text).map_err(|error| Failure::file(path, error))
}
