//! Files that a command leaves for its caller, although it keeps nothing.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use super::inside::PRIVATE;
use super::layers;

/// The most of a file that is copied out. It holds the path of a folder.
const MOST: u64 = 64 * 1024;

/// Copies files from the folders that the command saw to where it thought that they are.
pub(super) fn copy(files: &[PathBuf], work: &Path, overlaid: &[PathBuf]) {
    for file in files {
        if let Some(content) = found(file, work, overlaid) {
            let _ = fs::write(file, content);
        }
    }
}

/// What the command wrote. A link could lead anywhere, so none is followed.
fn found(file: &Path, work: &Path, overlaid: &[PathBuf]) -> Option<Vec<u8>> {
    let layers = overlaid.iter().enumerate().map(|(at, folder)| (folder.clone(), layers::upper(work, at)));
    let private = PRIVATE.iter().map(|private| (PathBuf::from(private.path), work.join(private.name)));
    let candidates = layers.chain(private).filter_map(|(folder, root)| Some((root, file.strip_prefix(&folder).ok()?)));
    candidates.into_iter().find_map(|(root, inside)| read(&root, inside))
}

fn read(root: &Path, inside: &Path) -> Option<Vec<u8>> {
    let root = File::open(root).ok()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = File::from(openat2(root, inside, flags, Mode::empty(), resolve).ok()?);
    let plain = file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST);
    let mut content = Vec::new();
    (plain && file.take(MOST).read_to_end(&mut content).is_ok()).then_some(content)
}
