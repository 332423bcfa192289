//! `tar`: options without a dash, the archive that it writes, and archives on other machines.

use std::borrow::Cow;

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::check::command::Command;
use crate::check::run::program_text;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::table::Check;
use crate::walk::Walk;

/// The action of a checkpoint that is a command.
const ACTION: &str = "exec=";
/// Short options of `tar` that take a value.
const VALUED: &str = "fbCTXgIFKLNVH";

/// The arguments with the first word written as options where it is the old form (`tar tvf a.tar`).
pub(crate) fn normalize(args: &[Field]) -> Cow<'_, [Field]> {
    if let Some(changed) = printed(args) {
        return Cow::Owned(normalize(&changed).into_owned());
    }
    let old = args.first().and_then(|field| field.known().map(|word| (field, word)));
    let Some((field, word)) = old.filter(|(_, word)| !word.starts_with('-') && !word.is_empty()) else {
        return Cow::Borrowed(args);
    };
    let plain: String = word.chars().filter(|letter| !VALUED.contains(*letter)).collect();
    let mut changed = Vec::new();
    if !plain.is_empty() {
        changed.push(Field::text(&format!("-{plain}"), field.span));
    }
    let mut rest = args.get(1..).unwrap_or(&[]).iter();
    for letter in word.chars().filter(|letter| VALUED.contains(*letter)) {
        changed.push(Field::text(&format!("-{letter}"), field.span));
        changed.extend(rest.next().cloned());
    }
    changed.extend(rest.cloned());
    Cow::Owned(changed)
}

/// The arguments with `x` written as `t` where `O` stands beside it: what is extracted is printed.
fn printed(args: &[Field]) -> Option<Vec<Field>> {
    let at = args.iter().take(1).position(|field| {
        field.known().is_some_and(|word| {
            let (letters, old) = word.strip_prefix('-').map_or((word, true), |letters| (letters, false));
            let own = letters.find(|letter| !old && VALUED.contains(letter)).and_then(|end| letters.get(..end));
            let own = own.unwrap_or(letters);
            own.contains('x') && own.contains('O') && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
    })?;
    let mut changed = args.to_vec();
    let field = changed.get_mut(at)?;
    *field = Field::text(&field.known()?.replacen('x', "t", 1), field.span);
    Some(changed)
}

/// `tar`, `cpio`: an archive whose name has a colon is fetched by a remote shell.
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    for action in command.values(&["checkpoint-action"]) {
        match action.start().strip_prefix(ACTION) {
            Some(_) => drop(program_text::value_of(walk, &action.after(ACTION.len()))),
            None if action.known().is_none() => drop(program_text::value_of(walk, action)),
            None => {}
        }
    }
    if command.rule.check == Some(Check::Tar) {
        archive(walk, command);
    } else if !command.has(&["t", "list", "o", "create"]) {
        // Members with absolute names come to lie elsewhere.
        walk.unnamed = true;
        command.values(&["D", "directory"]).for_each(|folder| walk.touch(folder, Access::Write));
    }
    if command.has(&["force-local"]) {
        return None;
    }
    let far = command.values(&["f", "file", "F", "I", "O"]).find(|archive| is_far(archive))?;
    Some(Finding::new(Verdict::Send, "an archive with a colon in its name is on another machine", far.span))
}

/// Takes note of the archive that `tar` makes or changes. What it unpacks or removes, no word of the line names.
fn archive(walk: &mut Walk<'_>, command: &Command<'_>) {
    let makes = ["c", "create", "r", "append", "u", "update", "A", "catenate", "concatenate", "delete"];
    let more = ["x", "extract", "get", "remove-files"];
    let mut files = command.values(&["f", "file"]).peekable();
    let named = files.peek().is_some() && command.has(&makes) && !command.has(&more);
    if named {
        files.filter(|file| file.known() != Some("-")).for_each(|file| walk.touch(file, Access::Write));
    } else {
        walk.unnamed |= command.has(&makes) || command.has(&more);
    }
    if command.has(&["x", "extract", "get"]) {
        command.values(&["C", "directory"]).for_each(|folder| walk.touch(folder, Access::Write));
    }
}

/// Whether a colon stands in a name before any slash.
fn is_far(archive: &Field) -> bool {
    for bit in &archive.bits {
        let Bit::Text(text) = bit else { continue };
        if let Some(at) = text.find(['/', ':']) {
            return text.get(at..).is_some_and(|rest| rest.starts_with(':'));
        }
    }
    false
}
