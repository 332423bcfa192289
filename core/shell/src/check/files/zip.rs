//! `zip`: the archive that it writes. `unzip`: the folder that it fills.

use phasegate_core::calls::analysis::Access;

use crate::check::command::Command;
use crate::expand::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// Options that take no value and change nothing beside the archive.
const FLAGS: [&str; 16] =
    ["r", "q", "v", "j", "y", "X", "D", "g", "1", "6", "9", "0", "recurse-paths", "quiet", "junk-paths", "symlinks"];

/// The program that unpacks, and its options with which it only shows.
const UNZIP: &str = "unzip";
const SHOWS: [&str; 7] = ["l", "v", "Z", "p", "t", "z", "c"];

/// The archive is the first operand, unless an option says more.
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == UNZIP {
        unpacked(walk, command);
        return None;
    }
    let plain = command.scan.options.iter().all(|given| FLAGS.contains(&given.name.as_str()) && given.value.is_none());
    match command.scan.operands.first() {
        Some(archive) if plain => {
            walk.touch(archive, Access::Write);
            // It gives the archive an ending where that has none.
            let mut ended = (*archive).clone();
            ended.push_text(".zip");
            walk.touch(&ended, Access::Write);
        }
        _ => walk.unnamed = true,
    }
    None
}

/// Takes note of the folder that an archive is unpacked into, which may stand behind the names of its members.
fn unpacked(walk: &mut Walk<'_>, command: &Command<'_>) {
    if command.has(&SHOWS) {
        return;
    }
    let behind = command.scan.operands.windows(2).filter_map(|two| match two {
        [option, folder] if option.known() == Some("-d") => Some((*folder).clone()),
        _ => None,
    });
    let attached = command.scan.operands.iter().filter(|operand| operand.start().starts_with("-d"));
    let attached = attached.map(|operand| operand.after(2)).filter(|folder| !folder.bits.is_empty());
    let folders: Vec<Field> = behind.chain(attached).chain(command.values(&["d"]).cloned()).collect();
    walk.unnamed |= folders.is_empty();
    folders.iter().for_each(|folder| walk.touch(folder, Access::Write));
}
