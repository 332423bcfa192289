//! Clients by their names.

use std::path::Path;

use crate::clients::platforms::Client;

/// Where the version stands behind the last name of a package: `@scope/name@1.2`.
fn version_at(word: &str) -> Option<usize> {
    let name = word.rfind('/').map_or(0, |slash| slash.saturating_add(1));
    let (at, _) = word.get(name..)?.char_indices().skip(1).find(|(_, sign)| *sign == '@')?;
    Some(name.saturating_add(at))
}

/// Whether a word is the name of a client's program, with a folder or a version, or names a package that holds it.
pub(in crate::analysis) fn names(client: &Client, word: &str) -> bool {
    // Behind another name of its own: `name@npm:@scope/name@1.2`.
    let word = word.split_once("@npm:").map_or(word, |(_, package)| package);
    let bare = version_at(word).and_then(|at| word.get(..at)).unwrap_or(word);
    let inside = |package: &str| {
        let rest = word.find(package).and_then(|at| word.get(at.saturating_add(package.len())..));
        package.contains('/') && rest.is_some_and(|rest| rest.starts_with(['/', '-']) && rest.contains('/'))
    };
    client.program.names.iter().any(|name| bare == *name || last(bare) == *name || inside(name))
}

/// The last name of a path, without the ending of a program.
pub(in crate::analysis) fn last(word: &str) -> &str {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    [".exe", ".cmd", ".ps1"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}
