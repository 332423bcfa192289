//! What a text of rules says.

use std::ops::Range;

use phasegate_rules::Rule;

use crate::read::report::Finding;

/// What a text of rules says.
#[derive(Default)]
pub(super) struct Read {
    /// The rules, each with its bytes.
    pub(super) rules: Vec<(Rule, Range<usize>)>,
    /// What is wrong, and whether it is an error.
    pub(super) findings: Vec<(Finding, bool)>,
}
