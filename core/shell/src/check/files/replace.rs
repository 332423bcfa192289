//! `perl -i` and `ruby -i`: programs that put what they print in place of the files they are given.

use phasegate_core::calls::analysis::{Access, Verdict};

use super::output::last_name;
use crate::check::command::Command;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options in a cluster that take the rest of their word, or else the next one.
const WITH_VALUE: [char; 7] = ['e', 'E', 'F', 'I', 'M', 'm', 'r'];

/// `perl`, `ruby`
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let cluster = |field: &Field| {
        let letters = field.known()?.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        Some(letters.find(WITH_VALUE).map_or(letters, |end| letters.get(..end).unwrap_or(letters)).to_owned())
    };
    let option = command.args.iter().find(|field| cluster(field).is_some_and(|letters| letters.contains('i')))?;
    // What follows `i` is the ending of a copy.
    walk.unnamed |= cluster(option).is_some_and(|letters| !letters.ends_with('i'));
    for file in command.args.iter().filter(|field| !field.start().starts_with('-')) {
        walk.touch(file, Access::Write);
    }
    Some(Finding::new(Verdict::Execute, "the files are replaced by what the program prints", option.span))
}

/// The name of the copy that is kept of a file: a star in the ending stands for the file's name.
pub(in crate::check) fn copy(file: &Field, ending: &str) -> Option<Field> {
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
