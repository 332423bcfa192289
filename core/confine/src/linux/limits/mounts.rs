//! Mounts of this namespace: the table, binds, and all of them made read-only.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, mount_remount, move_mount, open_tree,
};

use crate::error::{Result, Step as _};

/// A folder that was opened before anything lay over it.
pub(in crate::linux) struct Opened {
    /// Where it is.
    pub(in crate::linux) path: PathBuf,
    descriptor: OwnedFd,
}

impl Opened {
    /// Opens a folder or file, without the right to read it.
    pub(in crate::linux) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty()).step(format!("open {}", path.display()))?;
        Ok(Self { path: path.to_owned(), descriptor })
    }

    /// A path that leads to it, whatever lies over it by now.
    pub(in crate::linux) fn source(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Mounts it at a path, with what is mounted below it.
    pub(in crate::linux) fn bind_at(&self, target: &Path) -> Result<()> {
        mount_bind_recursive(self.source(), target).step(format!("mount {}", target.display()))
    }
}

/// Keeps mounts of this namespace from the others. New ones of the others may still appear here.
pub(in crate::linux) fn detach(flags: MountPropagationFlags) -> Result<()> {
    mount_change("/", flags | MountPropagationFlags::REC).step("detach mounts")
}

/// Mounts a file system of the kernel.
pub(in crate::linux) fn file_system(kind: &str, target: &Path, options: &str) -> Result<()> {
    let options = CString::new(options).step("read options")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let flags = if kind == "devpts" { MountFlags::NOSUID | MountFlags::NOEXEC } else { flags };
    mount(kind, target, kind, flags, options.as_c_str()).step(format!("mount {kind} at {}", target.display()))
}

/// Mounts one file over another.
pub(in crate::linux) fn bind_file(source: &str, target: &Path) -> Result<()> {
    mount_bind(source, target).step(format!("mount {source} at {}", target.display()))
}

/// A mount of a link on itself, not of what it leads to: nobody here can rename or remove it then, and it is followed as
/// before. A system that cannot do this is left alone.
pub(in crate::linux) fn hold_link(link: &Path) {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let _ = open_tree(CWD, link, flags)
        .and_then(|tree| move_mount(tree, "", CWD, link, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH));
}

/// Room for a usual table: the kernel makes the rest of it anew for every piece that is read.
const TABLE: usize = 64 * 1024;

/// What the table says of each mount point that is on top.
pub(in crate::linux) fn table() -> Result<BTreeMap<PathBuf, MountFlags>> {
    let mut text = Vec::with_capacity(TABLE);
    File::open("/proc/self/mountinfo").and_then(|mut file| file.read_to_end(&mut text)).step("read mounts")?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(row).collect())
}

/// `36 35 98:0 / /mnt rw,noatime shared:1 - ext3 /dev/root rw`: the fifth word is the path, the sixth has the flags.
fn row(line: &[u8]) -> Option<(PathBuf, MountFlags)> {
    let mut words = line.split(|byte| *byte == b' ').skip(4);
    let path = unescape(words.next()?);
    let options = std::str::from_utf8(words.next()?).ok()?;
    Some((path, flags(options)))
}

fn flags(options: &str) -> MountFlags {
    let mut flags = MountFlags::empty();
    for option in options.split(',') {
        flags |= match option {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    let atime = MountFlags::NOATIME | MountFlags::RELATIME;
    if flags.intersects(atime) { flags } else { flags | MountFlags::STRICTATIME }
}

/// The table writes a blank as `\040`.
fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match octal {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Makes every mount read-only but some. What is below a hidden folder cannot be reached, and counts for nothing.
pub(in crate::linux) fn make_read_only(spared: &dyn Fn(&Path) -> bool, hidden: &dyn Fn(&Path) -> bool) -> Result<()> {
    for (path, flags) in table()? {
        if flags.contains(MountFlags::RDONLY) || path.is_symlink() || spared(&path) {
            continue;
        }
        let made = read_only(&path, flags);
        if !hidden(&path) {
            made?;
        }
    }
    Ok(())
}

/// Makes the mount at a path and those below it read-only, but some.
pub(in crate::linux) fn make_read_only_below(folder: &Path, spared: &dyn Fn(&Path) -> bool) -> Result<()> {
    for (path, flags) in table()? {
        if path.starts_with(folder) && !flags.contains(MountFlags::RDONLY) && !path.is_symlink() && !spared(&path) {
            read_only(&path, flags)?;
        }
    }
    Ok(())
}

fn read_only(path: &Path, flags: MountFlags) -> Result<()> {
    mount_remount(path, flags | MountFlags::BIND | MountFlags::RDONLY, "")
        .step(format!("make {} read-only", path.display()))
}

/// Whether a path is a mount point or has one below it.
pub(in crate::linux) fn has_mounts(table: &BTreeMap<PathBuf, MountFlags>, folder: &Path) -> bool {
    table.keys().any(|path| path.starts_with(folder) && path != folder)
}

/// Options of an overlay name folders by number, so no blank or comma in a path can be taken for the end of one.
pub(in crate::linux) fn overlay(target: &Path, options: &str) -> Result<()> {
    let options = CString::new(options.as_bytes()).step("read options")?;
    mount("overlay", target, "overlay", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .step(format!("lay an overlay over {}", target.as_os_str().as_bytes().escape_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_table_is_read() {
        let line = br"36 35 98:0 /a /mnt/a\040b\134 ro,noatime,nosuid master:1 - ext3 /dev/root rw,errors=continue";
        let (path, flags) = row(line).unwrap();
        assert_eq!(path, Path::new(r"/mnt/a b\"));
        assert_eq!(flags, MountFlags::RDONLY | MountFlags::NOATIME | MountFlags::NOSUID);
        assert_eq!(row(b""), None);
        assert_eq!(super::flags("rw"), MountFlags::STRICTATIME);
    }
}
