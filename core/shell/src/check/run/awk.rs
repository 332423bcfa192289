//! An `awk` program: whether it is one of the plain ones, which only read. What another may do is left to the kernel.

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::arguments::Given;
use crate::check::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::script::{Doubt, Script};
use crate::walk::Walk;

/// What stands in programs that run others, load code, or read and write files that no argument names.
const MORE: [&str; 6] = ["system", "SYSTEM", "getline", "@", "ARGV", "/inet"];

/// `awk`
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given: Vec<_> = command.values(&["e", "source"]).collect();
    let mut operands = command.scan.operands.iter().copied();
    let fields: Vec<&Field> =
        if given.is_empty() && !command.has(&["f", "file", "E", "exec", "version", "V", "help", "h", "W"]) {
            operands.next().into_iter().collect()
        } else {
            given
        };
    if let Some(place) = operands.clone().find(|field| may_connect(field)) {
        return Some(Finding::new(Verdict::Send, "a file under `/inet` is a connection", place.span));
    }
    if let Some(finding) = foreign(command) {
        return Some(finding);
    }
    let is_inplace = |field: &Field| field.known().is_none_or(|name| name.contains("inplace"));
    let in_place = command.values(&["i", "include"]).any(is_inplace);
    for operand in operands {
        walk.touch(operand, if in_place { Access::Write } else { Access::Read });
    }
    // A statement may go on in the next of several programs.
    let field = fields.first()?;
    let scripts: Vec<Script> = fields.iter().map(|field| Script::of([*field])).collect();
    let whole: String = scripts.iter().flat_map(|script| [script.text.as_str(), "\n"]).collect();
    let made = scripts.iter().any(|script| script.doubt > Doubt::Nothing).then(|| command.doubt(field, "the program"));
    if reads(&whole) {
        return made.flatten();
    }
    walk.say_code(&whole, field.span);
    walk.touch_words_of(&whole, field.span);
    let mut worst = Finding::new(Verdict::Unknown, "the `awk` program may write files and run programs", field.span);
    made.flatten().into_iter().for_each(|made| keep_worse(&mut worst, made));
    Some(worst)
}

/// Whether an operand can be a file that `gawk` takes for a connection.
fn may_connect(field: &Field) -> bool {
    let mut known = String::new();
    for bit in &field.bits {
        match bit {
            Bit::Text(text) => known.push_str(text),
            Bit::Any | Bit::Tree => return known.contains("/inet") || "/inet".starts_with(&known),
            _ => known.push('\u{1}'),
        }
    }
    known.contains("/inet")
}

/// An option that only `gawk` knows. Others take the word after it for the program.
fn foreign(command: &Command<'_>) -> Option<Finding> {
    if command.name == "gawk" || command.has(&["version", "V", "help", "h"]) {
        return None;
    }
    let known = |given: &&Given| !matches!(given.name.as_str(), "F" | "v");
    let odd = command.scan.options.iter().find(known)?;
    Some(Finding::new(Verdict::Unknown, "only `gawk` has this option", odd.span))
}

/// Whether a program has no pipe, nothing of [`MORE`], and behind its first `print` no `>` that could name a file.
fn reads(program: &str) -> bool {
    let pipes = program.replace("||", "  ").contains('|');
    let printed = program.find("print").and_then(|at| program.get(at..)).unwrap_or_default();
    !pipes && !printed.replace(">=", "  ").contains('>') && !MORE.iter().any(|name| program.contains(name))
}
