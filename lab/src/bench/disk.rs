//! The disk that is measured: a file system in memory syncs nothing.

use std::path::Path;

use super::failed::failed;
use xtask::failure::{Failure, Result};

/// File systems that keep nothing when the power goes.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "rootfs"];

/// Refuses a folder whose files are in memory only.
pub(super) fn must_be_real(folder: &Path) -> Result<String> {
    let path = folder.canonicalize().map_err(|error| Failure::file(folder, error))?;
    let mounts = std::fs::read_to_string("/proc/self/mounts")
        .map_err(|error| failed(format!("the file system cannot be told: {error}")))?;
    match kind(&mounts, &path) {
        Some(kind) if IN_MEMORY.contains(&kind) => Err(failed(format!(
            "`{}` is on {kind}, which syncs nothing; set CARGO_TARGET_DIR to a folder on a disk",
            folder.display()
        ))),
        Some(kind) => Ok(kind.to_string()),
        None => Err(failed(format!("the file system of `{}` cannot be told", folder.display()))),
    }
}

/// The kind of the file system that a path lies in: that of the longest mount point above it, the last one mounted there.
fn kind<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mut best = None;
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        let (Some(point), Some(kind)) = (words.next(), words.next()) else { continue };
        if path.starts_with(point) && best.is_none_or(|(longest, _)| point.len() >= longest) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_counts() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /tmp/disk xfs rw 0 0\n";
        let at = |path: &str| kind(mounts, Path::new(path));
        assert_eq!(
            [at("/srv/x"), at("/tmpx"), at("/tmp/x"), at("/tmp/disk/x")].map(Option::unwrap),
            ["ext4", "ext4", "tmpfs", "xfs"]
        );
    }
}
