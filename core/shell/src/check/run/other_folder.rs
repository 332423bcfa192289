//! Programs that run a command in a folder, below a root or for values that their other words name: `bwrap`, `systemd-run`,
//! `parallel`. Where the command begins depends on options that no table lists, so every end of the line counts that
//! begins with a known program, and so does a text with blanks, as a line of its own.

use phasegate_core::calls::analysis::Status;

use crate::check::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::judge::text::Runs;
use crate::parse::Dialect;
use crate::scope::WORD_STEPS;
use crate::script::Script;
use crate::walk::Walk;

/// What stands in a command for the values that follow `:::`.
const MARKS: [&str; 7] = ["{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}"];

pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    walk.spend(command.args.len().saturating_mul(WORD_STEPS), command.span);
    let (before, values) = at_values(command.args);
    let mut fields: Vec<Field> = before.iter().map(without_marks).collect();
    let texts: Vec<Option<Script>> = command.args.iter().filter(|word| !is_mark(word)).map(line).collect();
    if !values.is_empty() && fields.as_slice() == before {
        let named = values.iter().filter(|value| !is_mark(value));
        let in_files = values.iter().any(|value| value.start().starts_with("::::"));
        fields.extend(if in_files { vec![Field::any(command.span)] } else { named.cloned().collect() });
    }
    let folders = walk.scope.folders.clone();
    let status = std::mem::replace(&mut walk.status, Status::Lost);
    walk.scope.lose_folder();
    let mut worst = None;
    for (at, field) in fields.iter().enumerate() {
        if walk.is_stopped() {
            break;
        }
        let finding = if let Some(Some(text)) = texts.get(at) {
            walk.script(text, Runs::Apart(&[]), Dialect::Posix)
        } else if walk.knows(field) {
            let rest = fields.iter().skip(at.saturating_add(1)).map(below);
            walk.wrapped(&std::iter::once(field.clone()).chain(rest).collect::<Vec<_>>(), command.span)
        } else {
            continue;
        };
        keep_worse(worst.get_or_insert_with(|| finding.clone()), finding);
    }
    walk.scope.folders = folders;
    walk.status = status;
    worst
}

/// The lines among the words of a program that nobody can see into: it may run them.
pub(crate) fn texts(walk: &mut Walk<'_>, args: &[Field]) {
    for text in args.iter().filter_map(line) {
        let program = text.text.split_ascii_whitespace().next().unwrap_or_default();
        if !walk.is_stopped() && walk.knows(&Field::text(program, text.span)) {
            walk.said_line(&text);
        }
    }
}

fn is_mark(field: &Field) -> bool {
    field.start().starts_with(":::")
}

/// The words before `:::`, and the values after it.
fn at_values(fields: &[Field]) -> (&[Field], &[Field]) {
    let at = fields.iter().position(is_mark).unwrap_or(fields.len());
    fields.split_at(at)
}

/// The line that a word is, or that an option has as its value (`--exec='git push'`).
pub(crate) fn line(field: &Field) -> Option<Script> {
    let script = Some(Script::of([field])).filter(|script| script.text.trim().contains(' '))?;
    let text = &script.text;
    let option = text.split_once('=').filter(|(name, _)| name.starts_with('-') && !name.contains(' '));
    let option = option.map(|(_, value)| value);
    let text = option.or_else(|| text.strip_prefix('-')?.get(1..)).unwrap_or(text);
    Some(script.with(unmarked(text)))
}

/// A text in which a name stands for the values that follow `:::`.
fn unmarked(text: &str) -> String {
    MARKS.iter().fold(text.to_owned(), |text, mark| text.replace(mark, "\"$VALUE\""))
}

/// An absolute path, below a root that is not known.
fn below(field: &Field) -> Field {
    if !field.start().starts_with('/') {
        return field.clone();
    }
    let mut below = Field { bits: vec![Bit::Any], ..field.clone() };
    below.bits.extend(field.bits.iter().cloned());
    below
}

fn without_marks(field: &Field) -> Field {
    MARKS.iter().fold(field.clone(), |field, mark| field.with_mark(mark, &Bit::Any))
}
