//! Programs that put a file in the place of a packed one: `gunzip a.gz` writes `a`.

use phasegate_core::calls::analysis::Access;

use crate::arguments::Scan;
use crate::expand::field::{Bit, Field};
use crate::walk::Walk;

/// What an archive that is unpacked becomes.
const RENAMED: [(&str, &str); 6] =
    [(".tgz", ".tar"), (".taz", ".tar"), (".tbz", ".tar"), (".tbz2", ".tar"), (".txz", ".tar"), (".tzst", ".tar")];

impl Walk<'_> {
    /// Takes note of what a program may write in the place of an operand: the path without its ending, or any name that the
    /// file itself says.
    pub(super) fn touch_unpacked(&mut self, operand: &Field, scan: &Scan<'_>) {
        let has = |names: &[&str]| scan.options.iter().any(|given| names.contains(&given.name.as_str()));
        // A folder with all that lies in it.
        if has(&["r", "recursive"]) {
            self.touch(operand, Access::Write);
        }
        // Elsewhere, or without an ending of its own.
        if has(&["output-dir-flat", "output-dir-mirror", "S", "suffix"]) {
            self.touch(&Field::any(operand.span), Access::Write);
        }
        let mut stripped = operand.clone();
        let Some(Bit::Text(text)) = stripped.bits.last_mut() else {
            return self.touch(&Field::any(operand.span), Access::Write);
        };
        let name = text.rfind('/').map_or(0, |at| at.saturating_add(1));
        if has(&["N", "name"]) {
            text.truncate(name);
            stripped.bits.push(Bit::Tree);
            return self.touch(&stripped, Access::Write);
        }
        let Some(at) = text.rfind('.').filter(|at| *at > name) else { return };
        let end = RENAMED.iter().find(|(packed, _)| text.get(at..) == Some(*packed)).map_or("", |(_, end)| *end);
        text.truncate(at);
        text.push_str(end);
        self.touch(&stripped, Access::Write);
    }
}
