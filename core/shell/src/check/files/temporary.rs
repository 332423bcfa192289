//! `mktemp`: a new file or folder whose name nobody chose.

use phasegate_core::calls::analysis::Access;

use crate::check::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::walk::Walk;

/// Takes note of the file that it makes where nothing says how that is named: in the folder for temporary files.
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let says = command.has(&["p", "tmpdir", "t", "suffix"]);
    if !command.scan.operands.is_empty() {
        walk.unnamed |= says;
    } else if says || !walk.scope.is_outside("TMPDIR") {
        walk.unnamed = true;
    } else {
        let mut path = Field::text("/tmp/tmp.", command.span);
        path.bits.push(Bit::Glob);
        walk.touch(&path, Access::Write);
    }
    None
}
