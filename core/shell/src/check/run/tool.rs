//! `npx`, `uvx`, `poetry run`, `python -m`: a program that runs another one of the table as a part of itself. What that one
//! changes counts; that it is fetched or found elsewhere is in the entry of the program that runs it.

use phasegate_core::calls::analysis::Verdict;

use super::other_folder;
use crate::check::command::Command;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let operands: Vec<Field> = command.scan.operands.iter().map(|field| (*field).clone()).collect();
    let module = command.values(&["m"]).next().and_then(Field::known);
    let named = match module {
        Some(module) => Some((module, operands.as_slice())),
        None if command.name.starts_with("py") => return None,
        None => operands.split_first().and_then(|(first, rest)| Some((first.known()?, rest))),
    };
    let named = named.map(|(name, rest)| (name.split_once('@').map_or(name, |(name, _)| name), rest));
    let rule = |name: &str| walk.rule(name).filter(|_| !name.contains(' '));
    let Some((name, rule, rest)) = named.and_then(|(name, rest)| Some((name, rule(name)?, rest))) else {
        other_folder::texts(walk, command.args);
        return None;
    };
    let finding = walk.apply(name, &rule, rest, command.span);
    // Another program may have the name.
    (finding.verdict > Verdict::Read).then_some(finding)
}
