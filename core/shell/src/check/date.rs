//! `date`: an operand that is not a format sets the clock.

use phasegate_core::calls::analysis::Verdict;

use super::command::Command;
use crate::finding::Finding;

/// `date`
pub(super) fn check(command: &Command<'_>) -> Option<Finding> {
    let sets = command.scan.operands.iter().find(|field| !field.start().starts_with('+'))?;
    // The BSD form `date -j -f format text` only converts.
    if command.has(&["j"]) {
        return None;
    }
    Some(Finding::new(Verdict::Write, "an operand of `date` that is no format sets the clock", sets.span))
}
