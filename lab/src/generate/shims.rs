//! The bridge's end in each plugin: a plugin is one file without imports of its own, so what they share is copied in.

use std::path::PathBuf;

use super::generated::Generated;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

/// What every plugin shares.
const SHARED: &str = "adapters/shim/bridge.ts";
/// The lines between which it stands.
const MARKS: (&str, &str) = ("// <bridge>\n", "// </bridge>\n");

/// Every plugin, with what they share as it is now.
pub(super) fn files() -> Result<Vec<Generated>> {
    // A plugin exports what its client shall load, and nothing else.
    let shared = read(&root().join(SHARED))?.replace("\nexport ", "\n");
    plugins().into_iter().map(|path| file(&path, &shared)).collect()
}

/// The plugins' files: `shim/phasegate.ts` of each adapter that has one.
pub(crate) fn plugins() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("adapters")).into_iter().flatten().flatten();
    let mut files: Vec<_> = folders.map(|folder| folder.path().join("shim/phasegate.ts")).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

fn file(path: &std::path::Path, shared: &str) -> Result<Generated> {
    let text = read(path)?;
    let parts = text.split_once(MARKS.0).and_then(|(before, rest)| Some((before, rest.split_once(MARKS.1)?.1)));
    let (before, after) =
        parts.ok_or_else(|| Failure::file(path, "the lines `// <bridge>` and `// </bridge>` are missing"))?;
    let text = format!("{before}{}// Made by `cargo xtask gen` from `{SHARED}`.\n{shared}{}{after}", MARKS.0, MARKS.1);
    Ok(Generated { path: path.strip_prefix(root()).unwrap_or(path).display().to_string(), text })
}
