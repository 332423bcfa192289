//! Files and folders of the state: made for their owner alone, replaced as a whole.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
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

/// Why a file or folder of the state is not taken for ours: someone else could have written it.
#[derive(Debug)]
pub(crate) struct Exposed(&'static str);

impl Exposed {
    /// An error with this reason, which goes on from the file's name.
    pub(crate) fn error(reason: &'static str) -> io::Error {
        io::Error::other(Self(reason))
    }
}

impl std::fmt::Display for Exposed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it {}", self.0)
    }
}

impl std::error::Error for Exposed {}

/// Whether a file or folder is the user's own and nobody else may write to it.
#[cfg(unix)]
pub(crate) fn check_own(data: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if data.uid() != rustix::process::geteuid().as_raw() {
        return Err(Exposed::error("belongs to another user"));
    }
    if data.mode() & 0o022 != 0 {
        return Err(Exposed::error("can be written by others than its owner"));
    }
    Ok(())
}

/// Whether a file or folder is the user's own and nobody else may write to it; not known on this system.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on systems with owners and permissions")]
pub(crate) fn check_own(_data: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a file of the state: no link, a regular file, the user's own, and nobody else's to write. One that is made is
/// for its owner alone.
///
/// # Errors
///
/// It cannot be opened, or is not as it must be.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(Exposed::error("is no regular file"));
    }
    check_own(&data)?;
    Ok(file)
}

/// The content of a file of the state, as [`open_own`] takes it for ours.
///
/// # Errors
///
/// As for [`open_own`], or it cannot be read.
pub(crate) fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_own(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Who may read a file that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner, also where others may read the one that was there.
    Owner,
    /// Whoever the process's own default lets; a file that exists keeps its permissions.
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
