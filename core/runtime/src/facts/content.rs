//! The content of a file of the project, as far as facts may depend on it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::project::paths::resolve;

/// The largest file whose content is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// What is at a path.
pub(super) enum Content {
    Bytes(Vec<u8>),
    Absent,
    /// It lies outside the project, is no file, is too large or cannot be read.
    Unknown,
}

/// What is at this path, which is relative to the root of the project.
pub(super) fn content(root: &Path, path: &str) -> Content {
    let Some(found) = resolve(root, Path::new(path)).filter(|found| found.starts_with(root)) else {
        return Content::Unknown;
    };
    match found.metadata() {
        Ok(data) if data.is_file() && data.len() <= MAX_FILE_BYTES => read(&found),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Content::Absent,
        Ok(_) | Err(_) => Content::Unknown,
    }
}

fn read(path: &Path) -> Content {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)) {
        Ok(length) if length as u64 <= MAX_FILE_BYTES => Content::Bytes(bytes),
        Ok(_) | Err(_) => Content::Unknown,
    }
}
