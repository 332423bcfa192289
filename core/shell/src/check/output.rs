//! Programs that only read when their output goes nowhere else: `tee`, `dd`, `pdftotext`; and `service`.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use crate::field::Field;
use crate::finding::Finding;
use crate::output::is_harmless_output;
use crate::walk::Walk;

/// `tee`: every operand is a place where nothing changes.
pub(super) fn tee(command: &Command<'_>) -> Option<Finding> {
    let bad = command.scan.operands.iter().find(|field| !field.known().is_some_and(is_nowhere))?;
    Some(Finding::new(Verdict::Write, "`tee` writes a file", bad.span))
}

/// A place for output that changes nothing, or what a process substitution stands for; `-` is a file for `tee`.
fn is_nowhere(path: &str) -> bool {
    is_harmless_output(path) || path == "/dev/fd/63"
}

/// `dd`: without `of=` it prints.
pub(super) fn dd(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        let operand = (!field.many).then(|| field.start().split_once('=')).flatten();
        match operand {
            Some(("if", _)) => walk.touch(&field.after("if=".len()), Access::Read),
            Some(("of", _)) => {
                let target = field.after("of=".len());
                if !target.known().is_some_and(is_harmless_output) {
                    walk.touch(&target, Access::Write);
                    return Some(Finding::new(Verdict::Write, "`dd` copies to a file or a device", field.span));
                }
            }
            Some(("bs" | "ibs" | "obs" | "cbs" | "count" | "skip" | "status" | "conv" | "iflag", _)) => {}
            _ if matches!(field.known(), Some("--version" | "--help")) => {}
            _ => {
                let because = "a word that is not known to only say what `dd` reads";
                return Some(Finding::new(Verdict::Write, because, field.span));
            }
        }
    }
    None
}

/// `pdftotext`: the last operand says where the text goes.
pub(super) fn standard_output(command: &Command<'_>) -> Option<Finding> {
    let asks = command.has(&["v", "h", "help"]) && command.scan.operands.is_empty();
    let prints = matches!(command.scan.operands.as_slice(), [_, last] if last.known() == Some("-"));
    (!asks && !prints).then(|| {
        Finding::new(Verdict::Write, format!("`{}` without `-` at the end writes a file", command.name), command.span)
    })
}

/// `service NAME status`
pub(super) fn service(command: &Command<'_>) -> Option<Finding> {
    let plain = |field: &Field| field.known().is_some_and(|name| !name.is_empty() && !name.contains('/'));
    let reads = match command.scan.operands.as_slice() {
        [] => command.has(&["version", "help"]),
        [name, verb] => plain(name) && verb.known() == Some("status"),
        _ => false,
    };
    (!reads).then(|| Finding::new(Verdict::Write, "`service` may change a service", command.span))
}
