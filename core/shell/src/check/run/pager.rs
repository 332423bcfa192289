//! Pagers: operands that start with `+` are commands.

use phasegate_core::calls::analysis::Verdict;

use crate::check::command::Command;
use crate::finding::Finding;

/// `less`, `more`
pub(in crate::check) fn check(command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        let Some(word) = field.start().strip_prefix('+') else { continue };
        let simple = word.chars().all(|character| character.is_ascii_digit() || "GgF%".contains(character));
        if !simple || field.known().is_none() {
            return Some(Finding::new(Verdict::Execute, "what follows `+` is a command of the pager", field.span));
        }
    }
    None
}
