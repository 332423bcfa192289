//! The command that a check looks at.

use phasegate_core::calls::analysis::Verdict;

use crate::arguments::Scan;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::table::Rule;
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

impl Command<'_> {
    /// Whether an option of one of these names was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.scan.options.iter().any(|given| names.contains(&given.name.as_str()))
    }

    /// The values given to options of these names.
    pub(crate) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Field> {
        let named = self.scan.options.iter().filter(|given| names.contains(&given.name.as_str()));
        named.filter_map(|given| given.value.as_ref())
    }

    /// What the first of these options does, each of which names or is a program that runs.
    pub(crate) fn runs_by(&self, names: &[&str]) -> Option<Finding> {
        let given = self.scan.options.iter().find(|given| names.contains(&given.name.as_str()))?;
        Some(Finding::new(Verdict::Execute, format!("`{}` runs a program", given.name), given.span))
    }

    /// The worst that can be said of an operand.
    pub(crate) fn doubt(&self, field: &Field, what: &str) -> Option<Finding> {
        Some(Finding::new(Verdict::Unknown, format!("{what} of `{}` is made at run time", self.name), field.span))
    }
}
