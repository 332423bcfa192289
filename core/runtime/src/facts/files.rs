//! The source `files`: a digest over the files that a pattern selects, by which a change to one of them shows. It opens
//! none of them: the digest is over their paths, sizes, times and inodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::{DirEntry, WalkBuilder};
use phasegate_core::FactValue;
use phasegate_core::values::glob::{self, Glob};
use phasegate_store::digest::sha256_hex;

use super::budget::Budget;
use super::source::{FactSource, World};
use super::tracked;
use crate::project::paths::resolve;

/// The largest file, in bytes, that may say what is ignored.
const MAX_IGNORE_BYTES: u64 = 1024 * 1024;
/// The most entries of a folder that are looked at to tell whether one of them is ignored.
const MAX_SIBLINGS: usize = 20_000;
/// The name of these files.
const IGNORE_FILE: &str = ".gitignore";

/// Folders that are never looked into: the data of version control.
const NEVER: [&str; 3] = [".git", ".hg", ".svn"];
/// What test runners keep for themselves. Files there count only where the pattern selects files by their names.
const OF_RUNNERS: [&str; 5] = [".pytest_cache", ".hypothesis", ".nyc_output", ".gradle", "node_modules/.vite"];

/// The source.
pub(super) struct Files;

impl FactSource for Files {
    const NAME: &'static str = "files";
    /// A path with `*`, `?`, `**` and `{a,b}`, relative to the root of the project.
    type Arguments = String;

    fn gather(world: World<'_>, pattern: &String) -> FactValue {
        let mut look = Look { budget: Budget::begin(), found: BTreeMap::new() };
        let patterns = glob::choices(pattern);
        let bases: BTreeSet<&str> = patterns.iter().map(|pattern| base(pattern)).collect();
        let group = Glob::from(pattern.as_str());
        let of_pattern = |path: &str| patterns.iter().any(|pattern| selects(pattern, path));
        let selects = |path: &str| if group.group().is_some() { group.fits(path) } else { of_pattern(path) };
        for at in bases {
            if look.below(world.root, at, &selects).is_none() {
                return FactValue::Unknown;
            }
        }
        if look.tracked(world.root, &selects).is_none() {
            return FactValue::Unknown;
        }
        FactValue::Known(look.digest().into())
    }
}

/// Whether a pattern selects the file. A pattern without a star that names a folder selects all that lies there.
fn selects(pattern: &str, path: &str) -> bool {
    let below = || path.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('/'));
    glob::path_fits(pattern, path) || (base(pattern) == pattern && below())
}

/// The folder, or the file, below which everything lies that the pattern selects: what is before its first star.
pub(super) fn base(pattern: &str) -> &str {
    match pattern.find(['*', '?']) {
        None => pattern,
        Some(star) => pattern.get(..star).and_then(|start| Some(start.rsplit_once('/')?.0)).unwrap_or_default(),
    }
}

/// Whether the repository ignores a path below the root of the project, by its own name or by that of a folder around it.
pub(crate) fn is_ignored(root: &Path, path: &Path) -> bool {
    let Some(real) = resolve(root, path).filter(|real| real.starts_with(root)) else { return false };
    let folders = real.ancestors().take_while(|folder| *folder != root);
    folders.filter_map(|folder| Some((folder, folder.parent()?))).any(|(folder, parent)| {
        if parent.ancestors().any(has_odd_ignore_file) {
            return false;
        }
        let mut walk = WalkBuilder::new(parent);
        walk.standard_filters(false).parents(true).git_ignore(true).max_depth(Some(1));
        let mut entries = walk.build().flatten();
        let listed = entries.by_ref().take(MAX_SIBLINGS).any(|entry| entry.path() == folder);
        !listed && entries.next().is_none() && folder.symlink_metadata().is_ok()
    })
}

/// What was found so far.
struct Look {
    budget: Budget,
    /// By path, what tells whether the file was changed.
    found: BTreeMap<String, String>,
}

impl Look {
    /// Looks at the selected files below a path; `None` if it cannot be told what lies there, or if there is too much.
    fn below(&mut self, root: &Path, at: &str, selects: &dyn Fn(&str) -> bool) -> Option<()> {
        let real = resolve(root, Path::new(at)).filter(|real| real.starts_with(root))?;
        self.found.insert(format!("{at}/"), real.to_string_lossy().into_owned());
        if real.symlink_metadata().is_err() {
            return Some(());
        }
        // The walk reads these itself, and must not wait for one that is no plain file, or is huge.
        if real.ancestors().any(has_odd_ignore_file) {
            return None;
        }
        let odd = Arc::new(AtomicBool::new(false));
        let is_odd = Arc::clone(&odd);
        // What a link leads to counts, as a program that follows it reads that.
        let mut walk = WalkBuilder::new(&real);
        walk.standard_filters(false).parents(true).git_ignore(true).follow_links(true);
        walk.filter_entry(move |entry| {
            if is_never(entry) {
                return false;
            }
            let may_be_read = entry.file_type().is_none_or(|kind| !kind.is_file());
            if may_be_read && has_odd_ignore_file(entry.path()) {
                is_odd.store(true, Ordering::Relaxed);
                return false;
            }
            true
        });
        for entry in walk.build() {
            self.budget.entry()?;
            match entry {
                Ok(entry) => self.entry(&real, at, &entry, selects)?,
                // A link that leads nowhere, or to a folder above it, and what is gone by now.
                Err(error) => self.unreadable(&error)?,
            }
        }
        (!odd.load(Ordering::Relaxed)).then_some(())
    }

    fn entry(&mut self, real: &Path, at: &str, entry: &DirEntry, selects: &dyn Fn(&str) -> bool) -> Option<()> {
        let inside = entry.path().strip_prefix(real).ok()?.to_string_lossy();
        let path = [at, &inside].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // What is ignored depends on these files.
        let counts = || selects(&path) && !(is_of_runner(Path::new(&path)) && selects(&format!("{path}~")));
        if !is_folder && (counts() || entry.file_name() == IGNORE_FILE) {
            self.found.insert(path, stamp(&entry.metadata().ok()?));
        }
        Some(())
    }

    /// Looks at the selected files that git tracks: these count, whatever says that they are ignored.
    fn tracked(&mut self, root: &Path, selects: &dyn Fn(&str) -> bool) -> Option<()> {
        let ignores = |folder: &Path| folder.join(IGNORE_FILE).symlink_metadata().is_ok();
        let below = self.found.keys().any(|path| path.ends_with(IGNORE_FILE));
        if !below && !root.ancestors().any(ignores) {
            return Some(());
        }
        for path in tracked::below(root)? {
            if !selects(&path) || self.found.contains_key(&path) {
                continue;
            }
            self.budget.entry()?;
            if let Ok(data) = std::fs::metadata(root.join(&path)) {
                self.found.insert(path, stamp(&data));
            }
        }
        Some(())
    }

    fn unreadable(&mut self, error: &ignore::Error) -> Option<()> {
        let gone = error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let path = link(error).filter(|_| gone || is_loop(error))?;
        self.found.insert(path.to_string_lossy().into_owned(), "leads nowhere".to_owned());
        Some(())
    }

    fn digest(&self) -> String {
        let mut text = String::new();
        for (path, stamp) in &self.found {
            text.extend([path, "\0", stamp, "\0"]);
        }
        sha256_hex(text.as_bytes())
    }
}

/// Whether the folder says what is ignored in something else than a plain file of some size.
fn has_odd_ignore_file(folder: &Path) -> bool {
    let data = std::fs::metadata(folder.join(IGNORE_FILE));
    // A folder of that name is none to the walk.
    data.is_ok_and(|data| !data.is_dir() && (!data.is_file() || data.len() > MAX_IGNORE_BYTES))
}

/// Whether a file lies in a folder that a test runner keeps for itself.
fn is_of_runner(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| OF_RUNNERS.iter().any(|name| folder.ends_with(name)))
}

/// Whether the entry is a folder that never counts, or a file that Python compiled.
fn is_never(entry: &DirEntry) -> bool {
    let compiled = || entry.path().parent().is_some_and(|folder| folder.ends_with("__pycache__"));
    let is_pyc = entry.path().extension().is_some_and(|extension| extension == "pyc");
    NEVER.iter().any(|name| entry.path().ends_with(name)) || (is_pyc && compiled())
}

/// The path that an error of a walk is about.
fn link(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => link(err),
        ignore::Error::Loop { child, .. } => Some(child.clone()),
        _ => None,
    }
}

fn is_loop(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::WithPath { err, .. } | ignore::Error::WithDepth { err, .. } => is_loop(err),
        error => matches!(error, ignore::Error::Loop { .. }),
    }
}

/// What tells whether a file was changed since.
#[cfg(unix)]
fn stamp(data: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let (size, inode, device) = (data.len(), data.ino(), data.dev());
    let (changed, changed_nanos) = (data.mtime(), data.mtime_nsec());
    let (touched, touched_nanos) = (data.ctime(), data.ctime_nsec());
    format!("{size} {device} {inode} {changed}.{changed_nanos} {touched}.{touched_nanos}")
}

/// What tells whether a file was changed since.
#[cfg(not(unix))]
fn stamp(data: &Metadata) -> String {
    let changed = data.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    format!("{} {:?}", data.len(), changed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use phasegate_core::Policy;

    use super::*;
    use crate::facts::budget::MAX_ENTRIES;

    struct Project {
        _folder: tempfile::TempDir,
        root: PathBuf,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let project = Self { _folder: folder, root };
            project.write(".git/HEAD", "ref: refs/heads/main\n");
            project.write("src/a.py", "a = 1\n");
            project.write("src/deep/b.py", "b = 1\n");
            project.write("docs/a.md", "text\n");
            project
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn look(&self, pattern: &str) -> FactValue {
            Files::gather(
                World { root: &self.root, project: None, policy: &Policy::default(), trial: None },
                &pattern.to_owned(),
            )
        }

        /// Whether `change` shows in what the pattern selects.
        fn shows(&self, pattern: &str, change: impl FnOnce(&Self)) -> bool {
            let before = self.look(pattern);
            assert_ne!(before, FactValue::Unknown);
            assert_eq!(before, self.look(pattern), "nothing changed");
            change(self);
            self.look(pattern) != before
        }
    }

    #[test]
    fn a_file_made_changed_moved_or_removed_shows() {
        let project = Project::new();
        assert!(project.shows("src/**", |project| project.write("src/new.py", "")));
        assert!(project.shows("src/**", |project| project.write("src/deep/b.py", "b = 2\n")));
        assert!(project.shows("src/**", |project| {
            fs::rename(project.root.join("src/new.py"), project.root.join("src/n.py")).unwrap()
        }));
        assert!(project.shows("src/**", |project| fs::remove_file(project.root.join("src/n.py")).unwrap()));
        assert!(project.shows("{src,docs}/**", |project| project.write("docs/a.md", "other\n")));
        assert!(
            project.shows("src", |project| project.write("src/a.py", "a = 2\n")),
            "a folder stands for what lies there"
        );
        assert!(project.shows("lib/**", |project| project.write("lib/a.py", "")), "a folder that is made");
        assert!(!project.shows("src/**", |project| project.write("docs/a.md", "again\n")));
        assert!(!project.shows("src/**/*.py", |project| project.write("src/a.txt", "")));
    }

    #[test]
    fn a_change_shows_where_size_and_time_are_set_back() {
        let project = Project::new();
        let path = project.root.join("src/a.py");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(project.shows("src/**", |project| {
            project.write("src/a.py", "a = 7\n");
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }));
    }

    #[test]
    fn what_a_link_leads_to_counts() {
        let project = Project::new();
        project.write("other/c.py", "c = 1\n");
        symlink("../other", project.root.join("src/link")).unwrap();
        symlink("../gone", project.root.join("src/broken")).unwrap();
        symlink("..", project.root.join("src/loop")).unwrap();
        assert!(project.shows("src/**", |project| project.write("other/c.py", "c = 2\n")));
        assert!(project.shows("src/**", |project| project.write("gone", "")));
        symlink("/", project.root.join("outside")).unwrap();
        assert_eq!(project.look("outside/**"), FactValue::Unknown);
    }

    #[test]
    fn ignored_files_count_only_where_the_pattern_names_their_folder() {
        let project = Project::new();
        project.write(".gitignore", "build/\n*.log\n");
        project.write("build/out.py", "");
        assert!(!project.shows("**", |project| project.write("build/out.py", "1")));
        assert!(!project.shows("src/**", |project| project.write("src/a.log", "1")));
        assert!(project.shows("build/**", |project| project.write("build/out.py", "12")));
        assert!(project.shows("**", |project| project.write(".gitignore", "src/\n")), "what is ignored has changed");
        assert!(!project.shows("**/*.py", |project| project.write("src/a.py", "a = 3\n")), "nobody tracks it");
        let git = |words: &[&str]| {
            let run = std::process::Command::new("git").arg("-C").arg(&project.root).args(words).status().unwrap();
            assert!(run.success(), "{words:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "-f", "src/a.py"]);
        assert!(project.shows("**/*.py", |project| project.write("src/a.py", "a = 4\n")), "git tracks it");
        assert!(!project.shows("**", |project| project.write(".git/description", "1")));
        assert!(!project.shows("**", |project| project.write("docs/__pycache__/a.cpython-313.pyc", "1")));
        assert!(!project.shows("**", |project| project.write(".pytest_cache/v", "1")));
        assert!(!project.shows("**", |project| project.write(".hypothesis/x.py", "1")));
        assert!(
            project.shows("**/*.py", |project| project.write("docs/.hypothesis/x.py", "12")),
            "named by its ending"
        );
    }

    #[test]
    #[cfg(unix)]
    fn what_says_what_is_ignored_is_a_plain_file_that_is_not_huge() {
        for below in ["", "deep/er/"] {
            let project = Project::new();
            project.write(&format!("{below}a.py"), "");
            let place = project.root.join(below).join(IGNORE_FILE);
            assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
            assert_eq!(project.look("**"), FactValue::Unknown, "nobody writes to it");
            fs::remove_file(&place).unwrap();
            symlink("/dev/zero", &place).unwrap();
            assert_eq!(project.look("**"), FactValue::Unknown, "it has no end");
            fs::remove_file(&place).unwrap();
            fs::File::create(&place).unwrap().set_len(3 * 1024 * MAX_IGNORE_BYTES).unwrap();
            assert_eq!(project.look("**"), FactValue::Unknown, "it is huge");
            fs::remove_file(&place).unwrap();
            assert_ne!(project.look("**"), FactValue::Unknown);
        }
    }

    #[test]
    fn too_many_files_are_unknown() {
        let project = Project::new();
        fs::create_dir(project.root.join("many")).unwrap();
        (0..=MAX_ENTRIES)
            .for_each(|number| drop(fs::File::create(project.root.join(format!("many/{number}"))).unwrap()));
        assert_eq!(project.look("many/**"), FactValue::Unknown);
        assert_ne!(project.look("src/**"), FactValue::Unknown);
    }
}
