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

/// Who may read a file that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner, also where others may read the one that was there.
    Owner,
    /// As the process's default permissions say; a file that exists keeps its permissions.
    Default,
}

/// Writes a file so that readers see the old text or the new one, never a part.
///
/// # Errors
///
/// The folder or the file cannot be written.
pub fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".phasegate-");
    #[cfg(unix)]
    if readers == Readers::Default {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if readers == Readers::Default
        && let Ok(data) = path.metadata()
    {
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
