//! git: which files of the working tree a command changes. What is not known to change none, or only those that it names,
//! may change any.

use phasegate_core::calls::analysis::Access;

use super::command::Command;
use super::git::placed;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options of `git reset` that leave the working tree alone.
const INDEX_ONLY: [&str; 8] = ["q", "quiet", "soft", "mixed", "N", "intent-to-add", "p", "patch"];
/// Options that make a branch, and say no more.
const NEW_BRANCH: [&str; 6] = ["b", "c", "create", "q", "quiet", "no-track"];

/// `git checkout`, `git switch`, `git reset`, `git restore`, `git stash push`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if keeps_untracked(command) {
        walk.touch(&placed(walk, &Field::text(".", command.span)), Access::Remove);
    }
    // What its commands do, they say themselves.
    if command.name == "git stash" {
        return None;
    }
    let known = command.args.iter().all(|field| field.known().is_some());
    let elsewhere = walk.globals.iter().any(|given| matches!(given.name.as_str(), "work-tree" | "git-dir"));
    let paths = if known && !elsewhere && !command.has(&["pathspec-from-file"]) { changed(command) } else { None };
    // What it takes out of the working tree it keeps in the repository, and what it takes from a commit it puts in the index.
    walk.besides |= command.name.ends_with(" push") || changes_the_index(command);
    match paths {
        Some(paths) => {
            for path in paths {
                let path = placed(walk, path);
                walk.touch(&path, Access::Write);
            }
        }
        None => walk.unnamed = true,
    }
    None
}

/// Whether `git stash` takes all files out of the working tree that git does not track.
fn keeps_untracked(command: &Command<'_>) -> bool {
    let stashes = command.name.ends_with("stash") || command.name.ends_with("stash push");
    stashes && command.has(&["u", "a", "include-untracked", "all"])
}

/// Whether `git restore` changes the index too, or `git checkout` takes files from a commit.
fn changes_the_index(command: &Command<'_>) -> bool {
    match command.name.rsplit(' ').next() {
        Some("restore") => command.has(&["S", "staged"]),
        Some("checkout") => command.args.first().is_none_or(|field| field.known() != Some("--")),
        _ => false,
    }
}

/// The files that a command changes, as far as it names them; `None`: any.
fn changed<'c>(command: &'c Command<'_>) -> Option<Vec<&'c Field>> {
    let only = |names: &[&str]| command.scan.options.iter().all(|given| names.contains(&given.name.as_str()));
    let operands = &command.scan.operands;
    let named = |paths: Vec<&'c Field>| (!paths.is_empty()).then_some(paths);
    match command.name.rsplit(' ').next()? {
        "reset" => only(&INDEX_ONLY).then(Vec::new),
        "checkout" => {
            let end = command.args.iter().position(|field| field.known() == Some("--"));
            match end.and_then(|at| command.args.get(at.saturating_add(1)..)) {
                Some(paths) => named(paths.iter().collect()),
                None => (only(&NEW_BRANCH) && operands.is_empty()).then(Vec::new),
            }
        }
        "switch" => (only(&NEW_BRANCH) && operands.is_empty()).then(Vec::new),
        _ => named(operands.to_vec()),
    }
}
