//! Sockets of servers outside. A read-only mount lets them be used, so an empty file lies over each.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use crate::error::Result;
use crate::linux::limits::mounts;

/// The sockets that have a path in this network namespace, one a line, before it is left.
pub(super) fn list() -> String {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Num RefCount Protocol Flags Type St Inode Path: only a path begins with a slash.
    let mut paths: Vec<&str> =
        text.lines().filter_map(|line| line.find(" /").and_then(|at| line.get(at + 1..))).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.retain(|path| is_socket(Path::new(path)));
    paths.join("\n")
}

/// Covers those that are still in sight, and not in a folder where the command sees copies or may write.
pub(super) fn cover(listed: &str, copied: &dyn Fn(&Path) -> bool) -> Result<()> {
    let reachable = listed.lines().map(Path::new).filter(|path| !copied(path) && is_socket(path));
    reachable.into_iter().try_for_each(|path| mounts::bind_file("/dev/null", path))
}

/// Covers a socket, or a folder of them, where later ones come to lie.
pub(super) fn cover_one(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => mounts::file_system("tmpfs", path, "mode=0555,size=4k"),
        _ if is_socket(path) => mounts::bind_file("/dev/null", path),
        _ => Ok(()),
    }
}

/// Whether a path is a socket's name.
pub(super) fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}
