//! `git --git-dir=PATH`: another repository, whose configuration a checkout may bring along under a name other than `.git`.

use phasegate_core::calls::analysis::{Access, Verdict};

use super::command::Command;
use super::git::in_folder;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// `git` before its command.
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let own = |path: &str| path.trim_end_matches('/').rsplit('/').next() == Some(".git");
    // With another folder to work in, the paths of the command are not those that it touches.
    if let Some(folder) = command.values(&["work-tree"]).find(|folder| folder.known() != Some(".")) {
        walk.touch(&Field { many: false, ..in_folder(&command.scan.options, folder) }, Access::Remove);
        return Some(Finding::new(Verdict::Execute, "`--work-tree` names another folder to work in", folder.span));
    }
    let other = command.values(&["git-dir"]).find(|folder| !folder.known().is_some_and(own))?;
    walk.touch(&Field::text(".", other.span), Access::Remove);
    Some(Finding::new(
        Verdict::Execute,
        "git would obey the configuration of a folder that is not named `.git`",
        other.span,
    ))
}
