//! What the repository ignores, as its files said when the watch began: what says otherwise since is not believed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::stamp::Stamp;

/// The name of the files that say it.
const IGNORE_FILE: &str = ".gitignore";
/// The largest of them that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Folders that are never looked into: the data of version control, and what programs make for themselves.
const NEVER: [&str; 9] =
    [".git", ".hg", ".svn", "node_modules", "__pycache__", ".pytest_cache", ".hypothesis", ".nyc_output", ".gradle"];
/// A file that says that its folder is a cache.
const CACHE_TAG: &str = "CACHEDIR.TAG";
/// A file that says that its folder holds an installed Python.
const PYTHON_TAG: &str = "pyvenv.cfg";

/// What is ignored, by the folders whose files were read.
pub(super) struct Ignores<'a> {
    root: &'a Path,
    /// When the watch began.
    began: i64,
    read: BTreeMap<PathBuf, Gitignore>,
}

impl<'a> Ignores<'a> {
    pub(super) fn new(root: &'a Path, began: i64) -> Self {
        Self { root, began, read: BTreeMap::new() }
    }

    /// Whether the entry of a folder is ignored.
    pub(super) fn ignores(&mut self, folder: &Path, path: &Path, is_folder: bool) -> bool {
        if is_folder && is_never(path) {
            return true;
        }
        for above in folder.ancestors() {
            if !self.read.contains_key(above) {
                let found = self.load(above);
                self.read.insert(above.to_path_buf(), found);
            }
            match self.read.get(above).map(|found| found.matched(path, is_folder)) {
                Some(Match::Ignore(_)) => return true,
                Some(Match::Whitelist(_)) => return false,
                Some(Match::None) | None => {}
            }
            if above == self.root {
                break;
            }
        }
        false
    }

    fn load(&self, folder: &Path) -> Gitignore {
        let path = folder.join(IGNORE_FILE);
        let stamp = Stamp::of(&path).filter(|stamp| stamp.is_file() && stamp.size <= MAX_BYTES);
        if stamp.is_none_or(|stamp| stamp.changed > self.began) {
            return Gitignore::empty();
        }
        let mut builder = GitignoreBuilder::new(folder);
        builder.add(path);
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

/// Whether a folder is never looked into. A cache that says so is believed where its name is one of a cache.
fn is_never(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let tagged = || (name == "target" || name.starts_with('.')) && folder.join(CACHE_TAG).exists();
    NEVER.contains(&name) || tagged() || folder.join(PYTHON_TAG).exists()
}
