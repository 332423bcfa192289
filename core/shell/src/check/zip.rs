//! `zip`: the archive that it writes.

use phasegate_core::analysis::Access;

use super::command::Command;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options that take no value and change nothing beside the archive.
const FLAGS: [&str; 16] =
    ["r", "q", "v", "j", "y", "X", "D", "g", "1", "6", "9", "0", "recurse-paths", "quiet", "junk-paths", "symlinks"];

/// The archive is the first operand, unless an option says more.
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let plain = command.scan.options.iter().all(|given| FLAGS.contains(&given.name.as_str()) && given.value.is_none());
    match command.scan.operands.first() {
        Some(archive) if plain => {
            walk.touch(archive, Access::Write);
            // It gives the archive an ending where that has none.
            let mut ended = (*archive).clone();
            ended.push_text(".zip");
            walk.touch(&ended, Access::Write);
        }
        _ => walk.unnamed = true,
    }
    None
}
