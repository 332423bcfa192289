//! Readings of arguments that options alone cannot express: one file each.

use super::judge::{Finding, Scan, Walk};
use crate::field::Field;
use crate::table::{Check, Rule};
use crate::tree::Span;

/// A command that is checked.
pub(crate) struct Command<'c> {
    /// The name of its entry in the table.
    pub(crate) name: &'c str,
    pub(crate) rule: &'c Rule,
    pub(crate) args: &'c [Field],
    pub(crate) scan: &'c Scan<'c>,
    /// The place of the program's name.
    pub(crate) span: Span,
}

/// Runs a check; `None` says that nothing is worse than the rule says.
pub(crate) fn run(_check: Check, _walk: &mut Walk<'_>, _command: &Command<'_>) -> Option<Finding> {
    None
}
