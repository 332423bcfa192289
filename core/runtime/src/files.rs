//! Files and folders of the state: made for their owner alone, replaced as a whole.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Makes a folder and those above it, readable by the owner only.
///
/// # Errors
///
/// The folder cannot be made.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file so that readers see the old text or the new one, never a part. A new file is the owner's alone;
/// one that exists keeps its permissions.
///
/// # Errors
///
/// The folder or the file cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".phasegate-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Ok(data) = path.metadata() {
        file.as_file().set_permissions(data.permissions())?;
    }
    file.as_file().sync_data()?;
    file.persist(path).map_err(|failed| failed.error)?;
    sync_folder(folder);
    Ok(())
}

/// Makes names in a folder durable, where the system can.
pub fn sync_folder(folder: &Path) {
    if let Ok(opened) = File::open(folder) {
        let _ = opened.sync_all();
    }
}
