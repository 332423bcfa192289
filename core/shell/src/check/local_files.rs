//! `ffprobe`: a word with a colon names a protocol, which may be one of the network.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use crate::finding::Finding;
use crate::walk::Walk;

pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given = command.values(&["i"]);
    given.for_each(|file| walk.touch(file, Access::Read));
    let mut files = command.scan.operands.iter().copied().chain(command.values(&["i"]));
    let far = files.find(|file| {
        let start = file.start();
        let first = start.split('/').next().unwrap_or(start);
        first.contains(':') || (file.known().is_none() && !start.contains('/'))
    })?;
    if far.known().is_none() {
        return command.doubt(far, "the file");
    }
    Some(Finding::new(Verdict::Send, "what has a protocol is fetched", far.span))
}
