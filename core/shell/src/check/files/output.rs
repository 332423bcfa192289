//! Programs that only read when their output goes nowhere else: `tee`, `dd`, `rustc --print`.

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::check::command::Command;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::output::is_harmless_output;
use crate::walk::Walk;

/// `tee`: every operand is a place where nothing changes.
pub(in crate::check) fn tee(command: &Command<'_>) -> Option<Finding> {
    let bad = command.scan.operands.iter().find(|field| !field.known().is_some_and(is_nowhere))?;
    Some(Finding::new(Verdict::Write, "`tee` writes a file", bad.span))
}

/// A place for output that changes nothing, or what a process substitution stands for; `-` is a file for `tee`.
fn is_nowhere(path: &str) -> bool {
    is_harmless_output(path) || path == "/dev/fd/63"
}

/// `rustc --print KIND=FILE`
pub(in crate::check) fn rustc(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let names_file = |field: &&Field| field.known().is_none_or(|kind| kind.contains('='));
    let kind = command.values(&["print"]).find(names_file)?;
    let name = kind.start().split_once('=').map_or(0, |(kind, _)| kind.len().saturating_add(1));
    walk.touch(&kind.after(name), Access::Write);
    Some(Finding::new(Verdict::Write, "`--print` with a file writes it", kind.span))
}

/// `dd`: without `of=` it prints.
pub(in crate::check) fn dd(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let mut writes = None;
    for field in command.args {
        let operand = (!field.many).then(|| field.start().split_once('=')).flatten();
        match operand {
            Some(("if", _)) => walk.touch(&field.after("if=".len()), Access::Read),
            Some(("of", _)) => {
                let target = field.after("of=".len());
                if !target.known().is_some_and(is_harmless_output) {
                    // Of several the last one counts.
                    walk.touch(&target, Access::Write);
                    writes = Some(Finding::new(Verdict::Write, "`dd` copies to a file or a device", field.span));
                }
            }
            Some(("bs" | "ibs" | "obs" | "cbs" | "count" | "skip" | "status" | "conv" | "iflag", _)) => {}
            _ if matches!(field.known(), Some("--version" | "--help")) => {}
            _ => {
                let because = "a word that is not known to only say what `dd` reads";
                writes.get_or_insert_with(|| Finding::new(Verdict::Write, because, field.span));
            }
        }
    }
    writes
}

/// `cp -l`, `cp -s`: what has a second name is written through it, with all that lies below.
pub(in crate::check) fn links(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let links = |field: &Field| {
        let word = field.start();
        let long = |name: &str| word.len() > 2 && name.starts_with(word);
        let short = word.starts_with('-') && !word.starts_with("--") && word.contains(['l', 's']);
        short || (word.starts_with("--") && (long("--link") || long("--symbolic-link")))
    };
    if command.args.iter().take_while(|field| field.known() != Some("--")).any(links) {
        command.scan.operands.iter().for_each(|field| walk.touch(field, Access::Remove));
    }
    let parents = |field: &Field| field.start().len() > 3 && "--parents".starts_with(field.start());
    walk.unnamed |= keeps(command) || command.args.iter().take_while(|field| field.known() != Some("--")).any(parents);
    command.runs_by(&["strip-program"])
}

/// Whether a program keeps what it replaces, under a name with an ending: `cp -b`, `install -S .old`, `rsync --suffix=.old`.
pub(in crate::check) fn keeps(command: &Command<'_>) -> bool {
    command.has(&["b", "backup", "S", "suffix"])
}

/// The last name of a path.
pub(in crate::check) fn last_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}
