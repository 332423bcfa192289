//! `perl -i` and `ruby -i`: programs that put what they print in place of the files they are given.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use crate::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options in a cluster that take the rest of their word, or else the next one.
const WITH_VALUE: [char; 7] = ['e', 'E', 'F', 'I', 'M', 'm', 'r'];

/// `perl`, `ruby`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let (mut in_place, mut given, mut files) = (None, false, Vec::new());
    let mut rest = command.args.iter();
    while let Some(field) = rest.next() {
        let options = field.known().and_then(|word| word.strip_prefix('-')).filter(|options| !options.is_empty());
        match options {
            Some("-") => {
                files.extend(rest.by_ref());
            }
            Some(options) if files.is_empty() && !options.starts_with('-') => {
                let cluster: &str = options.split_inclusive(['i']).next().unwrap_or_default();
                let valued = cluster.find(WITH_VALUE);
                let ends = valued.is_some_and(|at| options.len() == at.saturating_add(1));
                given |= valued.is_some_and(|at| options.get(at..).is_some_and(|rest| rest.starts_with(['e', 'E'])));
                if valued.is_none() && cluster.ends_with('i') {
                    in_place = Some(field.span);
                    // What follows `i` is the ending of a copy, but for `e` at the end, as people write it.
                    given |= options.ends_with('e') && options.len() > cluster.len();
                }
                if ends || (valued.is_none() && cluster.len() < options.len() && options.ends_with('e')) {
                    rest.next();
                }
            }
            Some(_) if files.is_empty() => {}
            _ => files.push(field),
        }
    }
    let span = in_place?;
    let files: &[&Field] = if given { &files } else { files.get(1..).unwrap_or_default() };
    for file in files {
        walk.touch(file, Access::Write);
    }
    Some(Finding::new(Verdict::Execute, "the files are replaced by what the program prints", span))
}
