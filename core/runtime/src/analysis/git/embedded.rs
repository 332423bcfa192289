//! Repositories that a checkout holds as plain files: git takes a folder with `HEAD`, `objects` and `refs` for a bare repository,
//! and runs the programs that its `config` names (rules 3.3).

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use phasegate_core::calls::analysis::{Verdict, Word};
use phasegate_shell::{Judgement, Part};

/// The most entries of a project that are looked at; a project with more counts as one that holds such a repository.
const MAX_ENTRIES: usize = 20_000;

/// Whether a part that was judged to only read runs git in such a repository. Where git runs in a folder that is not known,
/// it may be any below the project's root.
pub(in crate::analysis) fn any(judged: &Judgement, base: &Path, root: &Path) -> bool {
    let reads = |part: &&Part| part.command.verdict == Verdict::Read && runs_git(part);
    judged.parts.iter().filter(reads).any(|part| match folders(part, base) {
        Some(folders) => folders.iter().any(|folder| is_in_one(folder)),
        None => holds_one(root),
    })
}

fn runs_git(part: &Part) -> bool {
    let Some(Word::Known(program)) = part.command.words.first() else { return false };
    program.rsplit('/').next() == Some("git")
}

/// The folders in which git may look for a repository; `None`: one of them is not known.
fn folders(part: &Part, base: &Path) -> Option<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = match part.folders.as_slice() {
        [] => vec![base.to_path_buf()],
        known => known.iter().map(|folder| Some(base.join(folder.text()?))).collect::<Option<_>>()?,
    };
    let mut words = part.command.words.iter().skip(1);
    while let Some(word) = words.next() {
        let Word::Known(word) = word else { return None };
        match word.as_str() {
            "-C" => {
                let Some(Word::Known(to)) = words.next() else { return None };
                all.iter_mut().for_each(|folder| *folder = folder.join(to));
            }
            option if option.starts_with('-') => {}
            // Options after the subcommand are its own.
            _ => break,
        }
    }
    Some(all)
}

/// Whether git finds such a repository from a folder upwards, before any with a `.git`.
fn is_in_one(folder: &Path) -> bool {
    // What cannot be followed, git cannot enter either.
    let Ok(folder) = folder.canonicalize() else { return false };
    folder.ancestors().take_while(|above| above.join(".git").symlink_metadata().is_err()).any(is_one)
}

fn is_one(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && has("objects") && has("refs")
}

/// Whether a folder holds such a repository, at any depth. What lies in a `.git` is the client's and git's own.
fn holds_one(root: &Path) -> bool {
    let entries =
        WalkBuilder::new(root).standard_filters(false).filter_entry(|entry| entry.file_name() != ".git").build();
    let mut count = 0_usize;
    for entry in entries.flatten() {
        count = count.saturating_add(1);
        if count > MAX_ENTRIES || (entry.file_name() == "HEAD" && entry.path().parent().is_some_and(is_one)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn git_in_a_repository_of_plain_files_is_found() -> std::io::Result<()> {
        let root = std::env::temp_dir().join(format!("phasegate-embedded-{}", std::process::id()));
        let found = |line: &str| any(&judge(line, &Table::shipped(), Trust::default()), &root, &root);
        fs::create_dir_all(root.join(".git/objects"))?;
        fs::create_dir_all(root.join(".git/refs"))?;
        fs::write(root.join(".git/HEAD"), "")?;
        fs::create_dir_all(root.join("src/deep"))?;
        let known = ["git -C src status", "cd src && git log", "git -C src -C deep diff"];
        let unknown = ["git -C \"$d\" status", "for d in */; do git -C \"$d\" log; done"];
        for line in known.iter().chain(&unknown) {
            assert!(!found(line), "{line}: there is none");
        }
        for name in ["objects", "refs"] {
            fs::create_dir_all(root.join("src").join(name))?;
        }
        fs::write(root.join("src/HEAD"), "ref: refs/heads/main\n")?;
        for line in known.iter().chain(&unknown) {
            assert!(found(line), "{line}");
        }
        for line in ["git status", "git log -- src", "cat src/HEAD", "git -C .. status"] {
            assert!(!found(line), "{line}: another folder, or no git");
        }
        fs::create_dir_all(root.join("src/deep/.git"))?;
        assert!(!found("git -C src/deep status"), "a repository of its own comes first");
        fs::remove_dir_all(&root)
    }
}
