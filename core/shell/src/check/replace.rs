//! `perl -i` and `ruby -i`: programs that put what they print in place of the files they are given.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use super::output::last_name;
use crate::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options in a cluster that take the rest of their word, or else the next one.
const WITH_VALUE: [char; 7] = ['e', 'E', 'F', 'I', 'M', 'm', 'r'];

/// `perl`, `ruby`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let (mut in_place, mut given, mut files) = (None, false, Vec::new());
    let mut ending = String::new();
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
                    options.get(cluster.len()..).unwrap_or_default().clone_into(&mut ending);
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
        if let Some(copy) = copy(file, &ending) {
            walk.touch(&copy, Access::Write);
        }
    }
    Some(Finding::new(Verdict::Execute, "the files are replaced by what the program prints", span))
}

/// The name of the copy that is kept of a file: a star in the ending stands for the file's name.
pub(super) fn copy(file: &Field, ending: &str) -> Option<Field> {
    if ending.is_empty() {
        return None;
    }
    let Some((before, after)) = ending.split_once('*') else {
        let mut copy = file.clone();
        copy.push_text(ending);
        return Some(copy);
    };
    let Some(path) = file.known() else { return Some(Field::any(file.span)) };
    let name = last_name(path);
    let folder = if before.contains('/') { "" } else { path.strip_suffix(name).unwrap_or_default() };
    Some(Field::text(&format!("{folder}{before}{name}{}", after.replace('*', name)), file.span))
}
