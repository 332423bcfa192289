//! What tells, without reading a file, that it may have changed.

use std::path::Path;
use std::str::SplitAsciiWhitespace;
#[cfg(any(test, not(unix)))]
use std::time::{SystemTime, UNIX_EPOCH};

/// How soon after a change another one may leave the same times, in nanoseconds: the clocks of file systems tick.
const TICK: i64 = 100_000_000;

/// What the system says of a file or folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// When its content changed, as programs can set it, in nanoseconds since 1970-01-01 UTC.
    pub(crate) modified: i64,
    /// When anything of it changed, which no program can set; 0: shortly before it was looked at, so that a later change may not show.
    pub(crate) changed: i64,
    /// Its kind and permissions.
    pub(crate) mode: u32,
}

impl Stamp {
    /// Of a file or folder of this path, not of what a link leads to; `None`: there is none, or it cannot be told.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let data = path.symlink_metadata().ok()?;
        Some(Self {
            inode: data.ino(),
            size: data.size(),
            modified: in_nanos(data.mtime(), data.mtime_nsec()),
            changed: in_nanos(data.ctime(), data.ctime_nsec()),
            mode: data.mode(),
        })
    }

    /// Of a file or folder of this path, not of what a link leads to; `None`: there is none, or it cannot be told.
    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = path.symlink_metadata().ok()?;
        let modified = data.modified().map_or(0, nanos);
        let kind = if data.is_dir() {
            FOLDER
        } else if data.is_symlink() {
            LINK
        } else {
            FILE
        };
        Some(Self { inode: 0, size: data.len(), modified, changed: modified, mode: kind })
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.mode & KIND == FOLDER
    }

    pub(crate) fn is_link(&self) -> bool {
        self.mode & KIND == LINK
    }

    pub(crate) fn is_file(&self) -> bool {
        self.mode & KIND == FILE
    }

    /// The stamp as it is kept: one that is too young is never found the same again.
    pub(crate) fn kept(self, now: i64) -> Self {
        if self.changed > now.saturating_sub(TICK) { Self { changed: 0, ..self } } else { self }
    }

    /// Whether nothing changed since it was kept.
    pub(crate) fn same(&self, kept: &Self) -> bool {
        self == kept
    }

    pub(crate) fn write(&self, text: &mut String) {
        let Self { inode, size, modified, changed, mode } = self;
        text.push_str(&format!("{inode} {size} {modified} {changed} {mode}"));
    }

    pub(crate) fn read(words: &mut SplitAsciiWhitespace<'_>) -> Option<Self> {
        Some(Self {
            inode: words.next()?.parse().ok()?,
            size: words.next()?.parse().ok()?,
            modified: words.next()?.parse().ok()?,
            changed: words.next()?.parse().ok()?,
            mode: words.next()?.parse().ok()?,
        })
    }
}

/// A folder whose files are looked at one after another: open, so that nothing walks to each of them from the root.
pub(crate) struct OpenFolder<'a> {
    path: &'a Path,
    /// Whether there is no such folder, and so no file in it.
    gone: bool,
    #[cfg(target_os = "linux")]
    opened: Option<std::os::fd::OwnedFd>,
}

impl<'a> OpenFolder<'a> {
    #[cfg(target_os = "linux")]
    pub(crate) fn new(path: &'a Path) -> Self {
        use rustix::fs::{Mode, OFlags, open};
        use rustix::io::Errno;
        let opened = open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let gone = matches!(opened, Err(Errno::NOENT | Errno::NOTDIR));
        Self { path, gone, opened: opened.ok() }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(path: &'a Path) -> Self {
        Self { path, gone: !path.is_dir() }
    }

    /// Of a file in it.
    pub(crate) fn stamp(&self, name: &str) -> Option<Stamp> {
        if self.gone {
            return None;
        }
        #[cfg(target_os = "linux")]
        if let Some(opened) = &self.opened {
            use rustix::fs::{AtFlags, StatxFlags, statx};
            let data = statx(opened, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
            return match data {
                Ok(data) => Some(Stamp {
                    inode: data.stx_ino,
                    size: data.stx_size,
                    modified: in_nanos(data.stx_mtime.tv_sec, data.stx_mtime.tv_nsec.into()),
                    changed: in_nanos(data.stx_ctime.tv_sec, data.stx_ctime.tv_nsec.into()),
                    mode: data.stx_mode.into(),
                }),
                // A kernel without this call.
                Err(rustix::io::Errno::NOSYS) => Stamp::of(&self.path.join(name)),
                Err(_) => None,
            };
        }
        Stamp::of(&self.path.join(name))
    }
}

#[cfg(unix)]
fn in_nanos(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The bits of a mode that say what it is the mode of.
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
const FILE: u32 = 0o100_000;

/// Nanoseconds since 1970-01-01 UTC.
#[cfg(any(test, not(unix)))]
pub(crate) fn nanos(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
