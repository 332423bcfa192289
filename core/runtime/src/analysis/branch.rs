//! The name of the branch that the working tree is on, in words that a line makes of it.

use std::path::{Path, PathBuf};

use phasegate_core::analysis::{SimpleCommand, Verdict, Word};
use phasegate_shell::{Judgement, Part};

use crate::bounds::{self, MAX_FILE_BYTES};
use crate::repository::git_folder;

/// Programs after which the branch is still the same.
const PLAIN: [&str; 14] =
    ["[", "cat", "cd", "date", "echo", "grep", "head", "ls", "printf", "pwd", "tail", "test", "true", "wc"];
/// Commands of git after which it is, too.
const OF_GIT: [&str; 4] = ["add", "commit", "fetch", "push"];

/// Puts the branch into the words of the commands, where nothing in the line changes which one that is. Where there is none, such
/// a word is no option and forces nothing.
pub(super) fn name(commands: &mut [SimpleCommand], judged: &Judgement, base: &Path) {
    if judged.parts.iter().all(|part| part.branches.is_empty()) || !judged.parts.iter().all(keeps) {
        return;
    }
    let of_git = judged.parts.iter().filter(|part| part.command.words.first() == Some(&Word::Known("git".into())));
    let mut folders: Vec<Option<PathBuf>> = of_git.map(|part| folder(part, base)).collect();
    folders.dedup();
    let [Some(folder)] = folders.as_slice() else { return };
    let branch = current(folder);
    for (command, part) in commands.iter_mut().zip(&judged.parts) {
        for (number, [before, after]) in &part.branches {
            if let Some(word) = command.words.get_mut(*number).filter(|word| **word == Word::Unknown) {
                match &branch {
                    Some(branch) => *word = Word::Known([before.as_str(), branch, after].concat()),
                    None if before.is_empty() => *word = Word::Value,
                    None => {}
                }
            }
        }
    }
}

/// The folder that a part runs in, where that is known.
fn folder(part: &Part, base: &Path) -> Option<PathBuf> {
    match part.folders.as_slice() {
        [] => Some(base.to_path_buf()),
        [only] => Some(base.join(only.text()?)),
        _ => None,
    }
}

/// Whether a part leaves the working tree on its branch.
fn keeps(part: &Part) -> bool {
    let command = &part.command;
    if command.repeats {
        return false;
    }
    let known = |number: usize| match command.words.get(number) {
        Some(Word::Known(word)) => word.as_str(),
        _ => "",
    };
    match known(0) {
        "" => command.words.is_empty() && command.assignments.iter().all(|(name, _)| is_own(name)),
        _ if !command.assignments.is_empty() => false,
        "git" => command.verdict == Verdict::Read || OF_GIT.contains(&known(1)),
        program => PLAIN.contains(&program),
    }
}

/// Whether a variable is one of the line's own, and of no program.
fn is_own(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    name.chars().all(plain) || name.contains("BRANCH")
}

/// The branch that the repository of a folder is on.
pub(super) fn current(base: &Path) -> Option<String> {
    let head = bounds::read(&repository(base)?.join("HEAD"), MAX_FILE_BYTES).ok()?;
    let branch = head.trim_end().strip_prefix("ref: refs/heads/")?;
    (!branch.is_empty()).then(|| branch.to_owned())
}

/// Where the repository of a folder is kept.
pub(super) fn repository(base: &Path) -> Option<PathBuf> {
    if std::env::var_os("GIT_DIR").is_some() {
        return None;
    }
    git_folder(base.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?)
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    fn pushed(line: &str, head: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), head).unwrap();
        let judged = judge(line, &Table::shipped(), Trust::default());
        let mut commands: Vec<_> = judged.parts.iter().map(|part| part.command.clone()).collect();
        name(&mut commands, &judged, folder.path());
        let push = commands.iter().find(|command| command.words.contains(&Word::Known("push".into()))).unwrap();
        if let Some(Word::Known(last)) = push.words.last() { last.clone() } else { "?".into() }
    }

    #[test]
    fn the_branch_stands_in_words_that_are_made_of_it() {
        for line in [
            "git push -u origin \"$(git branch --show-current)\"",
            "git push origin $(git rev-parse --abbrev-ref HEAD)",
            "git add -A && git commit -m x && git push origin \"$(git symbolic-ref --short HEAD)\"",
            "branch=$(git branch --show-current); git push origin \"$branch\"",
            "cd sub && git push origin \"$(git branch --show-current)\"",
        ] {
            assert_eq!(pushed(line, "ref: refs/heads/main\n"), "main", "{line}");
            assert_eq!(pushed(line, "ref: refs/heads/+main\n"), "+main", "{line}");
            assert_eq!(pushed(line, "0123456789abcdef\n"), "?", "{line}: it is on none");
        }
        let line = "git push origin \"HEAD:refs/heads/$(git branch --show-current)\"";
        assert_eq!(pushed(line, "ref: refs/heads/a/b\n"), "HEAD:refs/heads/a/b");
    }

    #[test]
    fn nothing_is_put_in_where_the_line_may_change_the_branch() {
        for line in [
            "git checkout -b +x; git push origin \"$(git branch --show-current)\"",
            "cd $X && git push origin \"$(git branch --show-current)\"",
            "x=$(cd sub; git branch --show-current); git push origin \"$x\"",
            "./switch; git push origin \"$(git branch --show-current)\"",
            "git() { echo +main; }; git push origin \"$(git branch --show-current)\"",
            "GIT_DIR=x git push origin \"$(git branch --show-current)\"",
            "export GIT_DIR=x; git push origin \"$(git branch --show-current)\"",
            "PATH=.; git push origin \"$(git branch --show-current)\"",
            "git push origin \"$(git branch --show-current | sed s/^/+/)\"",
            "git push origin \"$(git branch --show-current; echo -f)\"",
            "git push origin \"$(git -C x branch --show-current)\"",
            "git symbolic-ref HEAD refs/heads/+x; git push origin \"$(git branch --show-current)\"",
        ] {
            assert_eq!(pushed(line, "ref: refs/heads/main\n"), "?", "{line}");
        }
    }
}
