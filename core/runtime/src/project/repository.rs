//! The repository that a project lies in: clients read what it has above the project, too.

use std::path::{Path, PathBuf};

use crate::bounds::{self, MAX_FILE_BYTES, MAX_SETTINGS_BYTES};

/// The folders in which a client that is started in the folder `from` of a project finds what it obeys: from there up to the
/// project's root, and above it.
pub(crate) fn folders_read(from: &Path, root: &Path) -> Vec<PathBuf> {
    let below = from.ancestors().take_while(|folder| folder.starts_with(root) && *folder != root);
    below.chain([root]).map(Path::to_path_buf).chain(folders_above(root)).collect()
}

/// The folders above a project's root, up to that of its repository; of another checkout of one, also the main one.
pub(crate) fn folders_above(root: &Path) -> Vec<PathBuf> {
    let Some(top) = root.ancestors().find(|folder| folder.join(".git").exists()) else { return Vec::new() };
    let between = root.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    between.map(Path::to_path_buf).chain(main_checkout(top)).collect()
}

/// Where a repository is kept: `.git`, or where that file says.
pub(crate) fn git_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = bounds::read(&git, MAX_FILE_BYTES).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The main checkout of a repository, for another one of it.
fn main_checkout(top: &Path) -> Option<PathBuf> {
    if top.join(".git").is_dir() {
        return None;
    }
    let git = git_folder(top)?;
    let shared = git.join(bounds::read(&git.join("commondir"), MAX_SETTINGS_BYTES).ok()?.trim()).canonicalize().ok()?;
    Some(shared.parent()?.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_package_has_the_folders_of_its_repository_above_it_and_a_worktree_its_main_checkout() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let at = folder.path().canonicalize()?;
        fs::create_dir_all(at.join("main/.git/worktrees/one"))?;
        fs::create_dir_all(at.join("main/packages/a"))?;
        fs::create_dir_all(at.join("one"))?;
        fs::write(at.join("main/.git/worktrees/one/commondir"), "../..\n")?;
        fs::write(at.join("one/.git"), format!("gitdir: {}\n", at.join("main/.git/worktrees/one").display()))?;
        assert_eq!(folders_above(&at.join("main/packages/a")), [at.join("main/packages"), at.join("main")]);
        assert_eq!(folders_above(&at.join("main")), [] as [PathBuf; 0]);
        assert_eq!(folders_above(&at.join("one")), [at.join("main")]);
        assert_eq!(folders_above(&at), [] as [PathBuf; 0]);
        Ok(())
    }
}
