//! Folders of which it is known whether anything was made in them, or taken from them, since.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most folders that are held open.
const MAX_SNAPSHOT_FOLDERS: usize = 256;
/// How much later a change may follow another one without the file system's clock having gone on.
const TICK: Duration = Duration::from_millis(100);
/// The same of a file system that counts in seconds.
const COARSE: Duration = Duration::from_secs(3);

/// Folders, open, and when each was changed last. A folder that is moved away changes the one it was in, which must be
/// among them.
#[derive(Debug)]
pub(super) struct DirectorySnapshot(Vec<(File, Changed)>);

/// Seconds and nanoseconds since 1970-01-01 UTC. Programs cannot set this time of a file.
type Changed = (i64, i64);

impl DirectorySnapshot {
    /// `None` if one of them changed after `since` or shortly before, or if that is unknown.
    pub(super) fn new(folders: BTreeSet<PathBuf>, since: SystemTime) -> Option<Self> {
        if folders.len() > MAX_SNAPSHOT_FOLDERS {
            return None;
        }
        let since = since.duration_since(UNIX_EPOCH).ok()?;
        let mut all = Vec::with_capacity(folders.len());
        for folder in folders {
            let file = open(&folder)?;
            let changed = changed(&file)?;
            let tick = if changed.1 == 0 { COARSE } else { TICK };
            let at = Duration::new(u64::try_from(changed.0).ok()?, u32::try_from(changed.1).ok()?);
            if at + tick > since {
                return None;
            }
            all.push((file, changed));
        }
        Some(Self(all))
    }

    /// Whether they are as they were.
    pub(super) fn same(&self) -> bool {
        self.0.iter().all(|(file, before)| changed(file).as_ref() == Some(before))
    }
}

#[cfg(target_os = "linux")]
fn open(folder: &std::path::Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::NOFOLLOW;
    std::fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(folder).ok()
}

#[cfg(target_os = "linux")]
fn changed(file: &File) -> Option<Changed> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().ok().map(|data| (data.ctime(), data.ctime_nsec()))
}

/// Elsewhere paths are resolved by the system, which does not say what it looked at.
#[cfg(not(target_os = "linux"))]
fn open(_folder: &std::path::Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn changed(_file: &File) -> Option<Changed> {
    None
}
