//! `rsync -n`: tells what it would do, between folders of this machine.

use phasegate_core::analysis::Verdict;

use super::command::Command;
use crate::field::Field;
use crate::finding::Finding;

/// Letters of options without a value that change nothing where nothing is done.
const LETTERS: &str = "avrnlptgoDzhicuHAXSxPRLkKmqWCOJIdF";
/// Options in full, with a value after `=` or without.
const OPTIONS: &str = "archive verbose recursive dry-run list-only links perms times group owner devices specials compress \
    human-readable itemize-changes checksum update hard-links acls xattrs sparse one-file-system partial progress relative \
    copy-links copy-dirlinks keep-dirlinks prune-empty-dirs quiet whole-file no-whole-file cvs-exclude omit-dir-times \
    ignore-times size-only dirs delete delete-before delete-after delete-during delete-delay delete-excluded existing \
    ignore-existing stats exclude include exclude-from include-from filter max-size min-size modify-window info out-format \
    max-delete force ignore-errors numeric-ids inplace append no-perms no-owner no-group no-times no-links safe-links \
    copy-unsafe-links no-relative no-implied-dirs";

/// Whether `rsync` only tells; otherwise what it does.
pub(super) fn rsync(command: &Command<'_>) -> Option<Finding> {
    let writes = || Some(Finding::new(Verdict::Write, "`rsync` writes", command.span));
    let mut only_tells = false;
    for field in command.args {
        let Some(word) = field.known() else {
            if is_below(field) {
                continue;
            }
            return writes();
        };
        let known = |name: &str| OPTIONS.split_ascii_whitespace().any(|option| option == name);
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or(option);
            if !known(name) {
                return writes();
            }
            only_tells |= matches!(option, "dry-run" | "list-only");
        } else if let Some(letters) = word.strip_prefix('-') {
            if letters.is_empty() || !letters.chars().all(|letter| LETTERS.contains(letter)) {
                return writes();
            }
            only_tells |= letters.contains('n');
        } else if word.split('/').next().is_some_and(|first| first.contains(':')) {
            return writes();
        }
    }
    if only_tells { None } else { writes() }
}

/// Whether a word that is made at run time is a path of this machine: it begins with known text up to a slash.
fn is_below(field: &Field) -> bool {
    let start = field.start();
    !start.starts_with('-') && start.split_once('/').is_some_and(|(first, _)| !first.contains(':'))
}
