//! Changes that nobody is told of: caches, locks and what git keeps for itself.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Folders of caches, wherever they are.
const CACHES: &[&str] = &[
    ".angular/cache",
    ".bundle/cache",
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".config/go/telemetry",
    ".gradle",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".ivy2",
    ".m2",
    ".mypy_cache",
    ".npm",
    ".nuget",
    ".nx/cache",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".rustup/tmp",
    ".sbt",
    ".tox",
    ".turbo",
    ".yarn/cache",
    "Library/Caches",
    "__pycache__",
    "go/pkg",
    "node_modules/.cache",
    "node_modules/.vite",
];

/// Files of caches, by the end of their name.
const FILES: &[&str] = &[
    ".pyc",
    ".tsbuildinfo",
    "/.coverage",
    "/.eslintcache",
    "/.package-cache",
    "/.package-cache-mutate",
    "/.bash_history",
    "/.global-cache",
    "/.lesshst",
    "/.node_repl_history",
    "/.python_history",
    "/.sqlite_history",
    "/.stylelintcache",
    "/.viminfo",
];

/// The file that marks the folder of a cache.
const MARK: &str = "CACHEDIR.TAG";

/// What git writes without a change of what it keeps for others.
const GIT: &[&str] =
    &["index", "objects", "logs", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "gc.log", "gc.pid", "sharedindex"];

/// Whether a folder is a cache, by its name or by the mark in it or in its layer.
pub(super) fn is_cache(folder: &Path, layer: &Path) -> bool {
    CACHES.iter().any(|cache| folder.ends_with(cache)) || folder.join(MARK).exists() || layer.join(MARK).exists()
}

/// Whether a file is one of a cache, or belongs to git alone.
pub(super) fn is_silent(file: &Path) -> bool {
    let name = file.as_os_str().to_string_lossy();
    FILES.iter().any(|end| name.ends_with(end)) || in_git(file)
}

/// Whether an empty new file is a lock.
pub(super) fn is_lock(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().ends_with("lock"))
}

fn in_git(file: &Path) -> bool {
    let mut parts = file.components().map(|part| part.as_os_str().to_string_lossy());
    if !parts.any(|part| part == ".git") {
        return false;
    }
    let inside: Vec<_> = parts.collect();
    let lock = inside.last().is_some_and(|name| name.ends_with(".lock"));
    lock || inside.iter().any(|part| GIT.iter().any(|name| part == name || part.starts_with("sharedindex.")))
}

/// What the project's `.gitignore` files say of folders.
pub(super) struct Ignored {
    root: PathBuf,
    rules: Gitignore,
}

impl Ignored {
    /// The rules for what lies in a folder: those of the checkout that it is in, as far down as the folder.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|above| above.join(".git").exists())?;
        let mut builder = GitignoreBuilder::new(root);
        builder.add(root.join(".git/info/exclude"));
        let mut between: Vec<&Path> = folder.ancestors().take_while(|above| above.starts_with(root)).collect();
        between.reverse();
        for above in between.iter().filter(|above| fs::exists(above.join(".gitignore")).unwrap_or(false)) {
            builder.add(above.join(".gitignore"));
        }
        Some(Self { root: root.to_owned(), rules: builder.build().ok()? })
    }

    /// Whether git ignores a folder as a whole. A single file that it ignores may be one that a person wrote.
    pub(super) fn folder(&self, folder: &Path) -> bool {
        folder != self.root
            && folder.starts_with(&self.root)
            && self.rules.matched_path_or_any_parents(folder, true).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_keeps_for_itself_is_silent_and_what_others_see_is_not() {
        let silent = ["index", "objects/a/b", "logs/HEAD", "refs/heads/main.lock", "worktrees/x/index"];
        silent.iter().for_each(|file| assert!(is_silent(Path::new(&format!("/p/.git/{file}"))), "{file}"));
        let seen = ["refs/heads/main", "HEAD", "hooks/pre-commit", "config"];
        seen.iter().for_each(|file| assert!(!is_silent(Path::new(&format!("/p/.git/{file}"))), "{file}"));
        assert!(!is_silent(Path::new("/p/src/index")));
    }

    #[test]
    fn a_lock_of_a_package_manager_with_content_is_no_lock() {
        assert!(is_lock(Path::new("/p/.lock")) && is_lock(Path::new("/p/db.LOCK")) && !is_lock(Path::new("/p/x.rs")));
        assert!(is_cache(Path::new("/h/.cargo/registry"), Path::new("/none")));
        assert!(!is_cache(Path::new("/h/registry"), Path::new("/none")));
        // Each `go` command counts there that it ran.
        assert!(is_cache(Path::new("/h/.config/go/telemetry"), Path::new("/none")));
        assert!(is_silent(Path::new("/p/.eslintcache")) && !is_silent(Path::new("/p/eslint.config.mjs")));
    }
}
