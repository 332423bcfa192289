//! Work folders: one for each command, and none when it has ended.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result, Step as _};

/// The lock of the layer of a cache. A work folder is locked itself, as long as its command runs.
const LOCK: &str = "lock";

/// The folder for work folders of this user, see [`crate::work_base`].
pub(crate) fn base(overlaid: &[PathBuf]) -> Option<PathBuf> {
    let name = format!("phasegate-{}", rustix::process::geteuid().as_raw());
    let places = ["/var/tmp", "/tmp"].iter().map(|place| Path::new(place).join(&name));
    places.into_iter().find(|place| !overlaid.iter().any(|folder| place.starts_with(folder)) && own(place).is_ok())
}

/// Makes the folder, and refuses one that another user could have made.
fn own(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = fs::symlink_metadata(folder)?;
    let mine = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    if mine && metadata.mode() & 0o077 == 0 { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// A work folder. It is removed when this is dropped, and by a later one where the process was killed.
#[derive(Debug)]
pub(super) struct Work {
    folder: PathBuf,
    _lock: File,
}

impl Work {
    /// Removes the work folders of processes that were killed, and makes a new one.
    pub(super) fn claim(base: &Path) -> Result<Self> {
        own(base).step(format!("use {}", base.display()))?;
        let all = File::open(base).step("open the folder of work folders")?;
        all.lock().step("take a lock")?;
        sweep(base);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let folder = base.join(format!("{}-{now}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder).step("make a work folder")?;
        let lock = File::open(&folder).step("open a work folder")?;
        lock.try_lock().step("take the lock of a work folder")?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Whether the process still runs that a work folder belongs to.
pub(super) fn is_held(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A folder made inside a work folder.
pub(super) fn folder_in(work: &Path, name: &str, mode: u32) -> Result<PathBuf> {
    let folder = work.join(name);
    DirBuilder::new().recursive(true).create(&folder).step(format!("make {name} in the work folder"))?;
    fs::set_permissions(&folder, Permissions::from_mode(mode)).step(format!("open {name} in the work folder"))?;
    Ok(folder)
}

/// Takes the layer of a cache for this command alone, or says that another has it.
pub(super) fn take_layer(layer: &Path) -> Result<Option<File>> {
    DirBuilder::new().recursive(true).mode(0o700).create(layer).step(format!("make {}", layer.display()))?;
    let lock = File::create(layer.join(LOCK)).step("open the lock of a cache")?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::refused("take the lock of a cache", error)),
    }
}

fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    let folders = entries.flatten().map(|entry| entry.path());
    folders.filter(|folder| !is_held(folder)).for_each(|folder| remove(&folder));
}

/// Removes a folder, also one in which a command made folders that nobody may write.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    open(folder);
    let _ = fs::remove_dir_all(folder);
}

fn open(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(folder) else { return };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.for_each(|entry| open(&entry.path()));
}
