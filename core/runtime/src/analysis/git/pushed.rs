//! What a `git push` sends: what is checked out in the project, of which its tests tell, or something else.

use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::{RunsIn, SimpleCommand, Word};

use super::branch::{current, repository};
use crate::analysis::paths::descendants::program_of;

use crate::bounds::{self, MAX_FILE_BYTES};

/// The command.
const PUSH: &str = "git push";
/// Its options that take the next word for their value.
const VALUED: [&str; 5] = ["-o", "--exec", "--push-option", "--receive-pack", "--repo"];
/// Those that name more than one branch.
const MANY: [&str; 3] = ["--all", "--branches", "--mirror"];
/// Those with which branches are removed.
const REMOVES: [&str; 2] = ["-d", "--delete"];
/// Options of git itself, and variables, that name another repository.
const ELSEWHERE: [&str; 3] = ["-C", "--git-dir", "--work-tree"];
const VARIABLES: [&str; 2] = ["GIT_DIR", "GIT_WORK_TREE"];
/// Names of what is checked out.
const HERE: [&str; 2] = ["HEAD", "@"];
/// Commands that make a branch of what is checked out, each with the options by which they do.
const MAKERS: [(&str, &[&str]); 2] = [("git checkout", &["-b", "-B"]), ("git switch", &["-c", "-C", "--create"])];

/// Marks the pushes of something else, from the folder in which the line starts.
pub(in crate::analysis) fn mark(commands: &mut [SimpleCommand], base: &Path) {
    let mut made: Vec<String> = Vec::new();
    for command in commands {
        if program_of(command) == PUSH {
            command.pushes_other = is_other(command, base, &made);
        } else {
            made.extend(makes(command));
        }
    }
}

/// The branch that a command makes of what is checked out, as its last word.
fn makes(command: &SimpleCommand) -> Option<String> {
    let name = program_of(command);
    let (_, options) = MAKERS.iter().find(|(maker, _)| *maker == name)?;
    let [.., option, branch] = command.words.as_slice() else { return None };
    let (option, branch) = (option.known()?, branch.known()?);
    options.contains(&option).then(|| branch.to_owned())
}

fn is_other(command: &SimpleCommand, base: &Path, made: &[String]) -> bool {
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX).min(command.words.len());
    let (before, after) = command.words.split_at(options.saturating_add(1).min(command.words.len()));
    let of_git = before.iter().skip(1).filter_map(Word::known);
    let elsewhere = of_git.map(|word| word.split_once('=').map_or(word, |(name, _)| name));
    if command.runs_in == RunsIn::Elsewhere
        || command.assignments.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()))
        || elsewhere.into_iter().any(|option| ELSEWHERE.contains(&option))
    {
        return true;
    }
    let Some(words) = after.iter().skip(1).map(Word::known).collect::<Option<Vec<_>>>() else { return true };
    if words.iter().any(|word| MANY.contains(word)) {
        return true;
    }
    if words.iter().any(|word| REMOVES.contains(word)) {
        return false;
    }
    let sources = operands(&words).skip(1).filter_map(source).collect::<Vec<_>>();
    !sources.iter().all(|source| made.iter().any(|made| made == source) || is_here(source, base))
}

/// The words that are neither options nor their values.
fn operands<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let before = [None].into_iter().chain(words.iter().map(Some));
    let named = words.iter().any(|word| word.starts_with("--repo"));
    let all = words
        .iter()
        .zip(before)
        .filter(|(word, before)| !word.starts_with('-') && !before.is_some_and(|before| VALUED.contains(before)));
    // With the remote as an option, every operand is a source.
    named.then_some("").into_iter().chain(all.map(|(word, _)| *word))
}

/// What a word names as the source of a push; `None`: nothing, it removes or says what follows.
fn source(word: &str) -> Option<&str> {
    let word = word.strip_prefix('+').unwrap_or(word);
    match word.split_once(':') {
        Some(("", target)) if !target.is_empty() => None,
        Some((source, _)) => Some(source),
        None if word == "tag" => None,
        None => Some(word),
    }
}

/// Whether a source is what is checked out, or a tag.
fn is_here(source: &str, base: &Path) -> bool {
    if HERE.contains(&source) {
        return true;
    }
    let Some(git) = repository(base) else { return false };
    let own = ["refs/heads/", "heads/"].iter().find_map(|start| source.strip_prefix(start));
    let tag = ["refs/tags/", "tags/"].iter().find_map(|start| source.strip_prefix(start));
    let branch = current(base);
    if own.is_none() && tag.is_none() && branch.as_deref() == Some(source) {
        return true;
    }
    let head = match &branch {
        Some(branch) => commit(&git, &format!("refs/heads/{branch}")),
        None => bounds::read(&git.join("HEAD"), MAX_FILE_BYTES).ok().map(|text| text.trim().to_owned()),
    };
    if head.as_deref() == Some(source) {
        return true;
    }
    let same = |name: &str| commit(&git, &format!("refs/heads/{name}")).is_some_and(|own| Some(own) == head);
    match (own, tag) {
        (Some(own), _) => branch.as_deref() == Some(own) || same(own),
        (None, Some(_)) => true,
        (None, None) => match commit(&git, &format!("refs/heads/{source}")) {
            Some(_) => same(source),
            None => commit(&git, &format!("refs/tags/{source}")).is_some(),
        },
    }
}

/// The commit that a reference names, as far as a file says it.
fn commit(git: &Path, name: &str) -> Option<String> {
    let shared = bounds::read(&git.join("commondir"), MAX_FILE_BYTES).ok();
    let shared: PathBuf = shared.map_or_else(|| git.to_path_buf(), |common| git.join(common.trim()));
    if name.contains("..") || name.contains('*') {
        return None;
    }
    if let Ok(text) = bounds::read(&shared.join(name), MAX_FILE_BYTES) {
        return Some(text.trim().to_owned());
    }
    let packed = bounds::read(&shared.join("packed-refs"), MAX_FILE_BYTES).ok()?;
    let named = packed.lines().filter_map(|line| line.split_once(' ')).find(|(_, packed)| *packed == name);
    named.map(|(commit, _)| commit.to_owned())
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn a_push_sends_what_is_checked_out_or_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("refs/heads/a")).unwrap();
        for (name, text) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("refs/heads/main", "11\n"),
            ("refs/heads/a/b", "22\n"),
            ("packed-refs", "# pack-refs\n11 refs/heads/same\n33 refs/heads/old\n44 refs/tags/v1\n^11\n"),
        ] {
            std::fs::write(git.join(name), text).unwrap();
        }
        let other = |line: &str| {
            let judged = judge(line, &Table::shipped(), Trust::default());
            let mut commands: Vec<_> = judged.parts.iter().map(|part| part.command.clone()).collect();
            crate::analysis::line::folders::mark(&mut commands, &judged, folder.path(), folder.path());
            mark(&mut commands, folder.path());
            commands.iter().any(|command| command.pushes_other)
        };
        for line in [
            "git push",
            "git push origin",
            "git push -u origin main",
            "git push origin HEAD:refs/for/main",
            "git push origin main:next v1",
            "git push origin refs/heads/main tag v1",
            "git push -o ci.skip origin @",
            "git push origin same",
            "git push origin 11:refs/heads/next",
            "git push --tags origin",
            "git push origin :old",
            "git push --delete origin old",
            "git checkout -q -b new && git push -u origin new",
            "git pull origin old",
        ] {
            assert!(!other(line), "{line}");
        }
        for line in [
            "git push origin a/b",
            "git push origin a/b:main",
            "git push origin old:main",
            "git push origin heads/old",
            "git push origin 22:refs/heads/main",
            "git push origin HEAD~1:main",
            "git push --all",
            "git push origin refs/heads/*",
            "git push --repo=origin old",
            "git push origin \"$X\"",
            "git push origin :",
            "git -C ../x push",
            "git --git-dir=x push",
            "GIT_DIR=x git push",
            "cd ../x && git push",
        ] {
            assert!(other(line), "{line}");
        }
    }
}
