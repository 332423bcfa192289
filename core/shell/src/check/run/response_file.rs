//! Programs that take the options of a file in the place of `@FILE`: some of these options name a program.

use phasegate_core::calls::analysis::Verdict;

use crate::check::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;

/// `nm`, `strings` and their like: no word may be such a file. Where the agent writes a file of such a name, for a pattern to
/// find, no program is trusted any more (`obeyed`).
pub(in crate::check) fn check(command: &Command<'_>) -> Option<Finding> {
    let may_be = |field: &&Field| match field.bits.first() {
        Some(Bit::Text(text)) => text.starts_with('@'),
        Some(Bit::Glob) | None => false,
        Some(_) => true,
    };
    let bad = command.args.iter().find(may_be)?;
    Some(Finding::new(Verdict::Execute, "the file may name options, and with them a program to load", bad.span))
}
