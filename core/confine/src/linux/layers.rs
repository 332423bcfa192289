//! Layers over folders, in which a command writes: thrown away, or a session's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

use super::work;
use crate::error::{Error, Result, Step as _};
use crate::linux::limits::mounts::{self, Opened};
use crate::request::{Cache, Fake, Request};

/// The most overlays that a home is split into.
const MOST: usize = 64;

/// Where the layer of the overlay with this number is, in the work folder.
pub(super) fn upper(work: &Path, at: usize) -> PathBuf {
    work.join(format!("upper{at}"))
}

/// The folders that get an overlay of their own. A folder with a mount below it cannot have one, but its children can.
pub(super) fn split(request: &Request, table: &BTreeMap<PathBuf, MountFlags>) -> Result<Vec<PathBuf>> {
    if request.lacks(Fake::NoOverlay) {
        return Err(Error::refused("lay an overlay", "a test says that there is none"));
    }
    let mut folders = Vec::new();
    for folder in &request.overlaid {
        if !folders.iter().any(|above| folder.starts_with(above)) {
            add(folder, table, &mut folders)?;
        }
    }
    Ok(folders)
}

fn add(folder: &Path, table: &BTreeMap<PathBuf, MountFlags>, folders: &mut Vec<PathBuf>) -> Result<()> {
    if !mounts::has_mounts(table, folder) {
        folders.push(folder.to_owned());
        let few = folders.len() <= MOST;
        return if few { Ok(()) } else { Err(Error::refused("lay overlays", "too many folders lie beside mounts")) };
    }
    // A folder that cannot be listed stays read-only, with all that is in it.
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        add(&entry.path(), table, folders)?;
    }
    Ok(())
}

/// A folder with its layer, opened before anything hides it.
pub(super) struct Layer {
    /// Where the overlay goes.
    pub(super) path: PathBuf,
    lower: Opened,
    upper: Opened,
    work: Opened,
    options: &'static str,
}

impl Layer {
    /// The layer that is thrown away. It need not reach the disk.
    pub(super) fn thrown_away(folder: &Path, at: usize, work: &Path) -> Result<Self> {
        let upper = upper(work, at);
        let scratch = work::folder_in(work, &format!("scratch{at}"), 0o700)?;
        let mode = fs::metadata(folder).map_or(0o700, |metadata| std::os::unix::fs::MetadataExt::mode(&metadata));
        fs::create_dir(&upper).step("make a layer")?;
        let rights = std::os::unix::fs::PermissionsExt::from_mode(mode & 0o7777);
        fs::set_permissions(&upper, rights).step("make a layer")?;
        Self::open(folder, folder, &upper, &scratch, ",volatile")
    }

    /// A layer that is thrown away, whose parts are there.
    pub(super) fn over(folder: &Path, upper: &Path, scratch: &Path) -> Result<Self> {
        Self::open(folder, folder, upper, scratch, ",volatile")
    }

    /// The layer of a cache. A cache that is not there yet is an empty one.
    pub(super) fn cache(cache: &Cache) -> Result<Self> {
        let part = |name: &str| work::folder_in(&cache.layer, name, 0o755);
        let lower = if cache.path.is_dir() { cache.path.clone() } else { part("empty")? };
        Self::open(&cache.path, &lower, &part("upper")?, &part("scratch")?, "")
    }

    fn open(path: &Path, lower: &Path, upper: &Path, work: &Path, options: &'static str) -> Result<Self> {
        let (lower, upper, work) = (Opened::open(lower)?, Opened::open(upper)?, Opened::open(work)?);
        Ok(Self { path: path.to_owned(), lower, upper, work, options })
    }

    /// Lays the overlay.
    pub(super) fn lay(&self) -> Result<()> {
        let [lower, upper, work] =
            [&self.lower, &self.upper, &self.work].map(|part| part.source().display().to_string());
        let options = format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr{}", self.options);
        mounts::overlay(&self.path, &options)
    }
}
