//! What a layer holds that differs from what it lay over.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::noise::{self, Ignored};
use crate::report::{Change, Kind, Report};

/// The attribute by which an overlay says that a folder hides the one that it lies over.
const OPAQUE: &str = "user.overlay.opaque";

/// Looks through layers for changes.
#[derive(Default)]
pub(super) struct Search {
    found: Vec<Change>,
    more: usize,
    caches: bool,
}

impl Search {
    /// Looks through the layer over a folder.
    pub(super) fn layer(&mut self, layer: &Path, folder: &Path) {
        if rights_differ(layer, folder) {
            self.add(folder, Kind::Modified);
        }
        self.folder(layer, folder, Ignored::of(folder).as_ref());
    }

    /// Puts the changes into a report.
    pub(super) fn finish(mut self, report: &mut Report) {
        self.found.sort();
        report.changes = self.found;
        report.more = self.more;
        report.caches = self.caches;
    }

    fn folder(&mut self, layer: &Path, folder: &Path, ignored: Option<&Ignored>) {
        if is_opaque(layer) {
            for gone in names(folder).into_iter().filter(|name| fs::symlink_metadata(layer.join(name)).is_err()) {
                self.removed(&folder.join(gone), ignored);
            }
        }
        for name in names(layer) {
            self.entry(&layer.join(&name), &folder.join(&name), ignored);
        }
    }

    fn entry(&mut self, layer: &Path, real: &Path, ignored: Option<&Ignored>) {
        let Ok(new) = fs::symlink_metadata(layer) else { return };
        let old = fs::symlink_metadata(real).ok();
        if new.file_type().is_char_device() && new.rdev() == 0 {
            if old.is_some() {
                self.removed(real, ignored);
            }
        } else if new.is_dir() {
            self.subfolder(layer, real, old.as_ref(), ignored);
        } else if noise::is_silent(real) {
        } else if let Some(old) = old {
            if !same(layer, &new, real, &old) {
                self.add(real, Kind::Modified);
            }
        } else if !(new.len() == 0 && new.is_file() && noise::is_lock(real)) {
            self.add(real, Kind::Added);
        }
    }

    fn subfolder(&mut self, layer: &Path, real: &Path, old: Option<&Metadata>, ignored: Option<&Ignored>) {
        let cache = noise::is_cache(real, layer) || ignored.is_some_and(|rules| rules.folder(real));
        if cache || noise::is_silent(real) {
            self.caches |= cache;
            return;
        }
        let before = self.found.len() + self.more;
        // A folder with rules of its own, or a checkout within the home.
        let own = (layer.join(".gitignore").exists() || real.join(".gitignore").exists() || real.join(".git").exists())
            .then(|| Ignored::of(real))
            .flatten();
        self.folder(layer, real, own.as_ref().or(ignored));
        match old {
            Some(old) if !old.is_dir() => self.add(real, Kind::Modified),
            Some(_) if rights_differ(layer, real) => self.add(real, Kind::Modified),
            // An empty one; another is known by what is in it. Where all of that is silent, so is the folder.
            None if self.found.len() + self.more == before && names(layer).is_empty() => self.add(real, Kind::Added),
            _ => {}
        }
    }

    fn removed(&mut self, real: &Path, ignored: Option<&Ignored>) {
        let folder = real.is_dir() && !real.is_symlink();
        let cache = folder && (noise::is_cache(real, real) || ignored.is_some_and(|rules| rules.folder(real)));
        self.caches |= cache;
        let silent = noise::is_silent(real)
            || noise::is_lock(real) && fs::metadata(real).is_ok_and(|metadata| metadata.len() == 0);
        if !(silent || cache) {
            self.add(real, Kind::Removed);
        }
    }

    fn add(&mut self, path: &Path, kind: Kind) {
        if self.found.len() < Report::MOST {
            self.found.push(Change { path: path.to_string_lossy().into_owned(), kind });
        } else {
            self.more += 1;
        }
    }
}

fn names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map_or_else(|_| Vec::new(), |entries| entries.flatten().map(|entry| entry.file_name().into()).collect())
}

fn is_opaque(layer: &Path) -> bool {
    let mut value = [0_u8; 1];
    rustix::fs::lgetxattr(layer, OPAQUE, &mut value).is_ok_and(|length| length == 1 && value == *b"y")
}

fn rights_differ(layer: &Path, real: &Path) -> bool {
    let (Ok(new), Ok(old)) = (fs::symlink_metadata(layer), fs::symlink_metadata(real)) else { return false };
    (new.mode(), new.uid(), new.gid()) != (old.mode(), old.uid(), old.gid())
}

/// Whether two files have the same rights, owner, kind and content. Their times do not count.
fn same(layer: &Path, new: &Metadata, real: &Path, old: &Metadata) -> bool {
    if (new.mode(), new.uid(), new.gid()) != (old.mode(), old.uid(), old.gid()) {
        return false;
    }
    if new.is_symlink() {
        return fs::read_link(layer).ok() == fs::read_link(real).ok();
    }
    new.is_file() && new.len() == old.len() && same_content(layer, real).unwrap_or(false)
}

fn same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    const CHUNK: u64 = 1 << 18;
    loop {
        left.clear();
        right.clear();
        let read = one.by_ref().take(CHUNK).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK).read_to_end(&mut right)?;
        if left != right || read == 0 {
            return Ok(left == right);
        }
    }
}
