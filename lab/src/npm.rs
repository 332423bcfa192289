//! Programs from the npm registry: a committed list and its lock file, installed by name below the target folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::failure::{Failure, Result};
use xtask::process::output;
use xtask::root::{read, root, target, write};

/// The files that say what is installed.
const FILES: [&str; 2] = ["package.json", "package-lock.json"];
/// Written last: the lock file as it was when everything was in place.
const STAMP: &str = "installed.json";
/// The oldest Node.js that the suites run on.
const OLDEST_NODE: u32 = 22;

/// An installed list.
pub(crate) struct Packages {
    folder: PathBuf,
}

/// Installs the list in a folder of the workspace, unless that was done already. No package's own scripts are run.
///
/// # Errors
///
/// `npm` is not there or fails.
pub(crate) fn install(list: &str) -> Result<Packages> {
    let (from, folder) = (root().join(list), target().join("npm").join(list.replace('/', "-")));
    let lock = read(&from.join("package-lock.json"))?;
    let stamp = folder.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(Packages { folder });
    }
    for name in FILES {
        write(&folder.join(name), &read(&from.join(name))?)?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    output(npm.current_dir(&folder).stdin(Stdio::null()))
        .map_err(|failure| Failure::new(format!("{failure}\nthe packages of `{list}` need `npm` and its registry")))?;
    write(&stamp, &lock)?;
    Ok(Packages { folder })
}

impl Packages {
    /// A file of a package, by its path below `node_modules`.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// The Node.js of the list, where it has one for this system, else the one on the path.
    ///
    /// # Errors
    ///
    /// Neither is there, or the one on the path is too old.
    pub(crate) fn node(&self) -> Result<PathBuf> {
        let own = std::fs::read_dir(self.folder.join("node_modules")).into_iter().flatten().flatten();
        let mut own = own
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("node-"))
            .map(|entry| entry.path().join("bin/node"));
        match own.find(|program| program.is_file()) {
            Some(program) => Ok(program),
            None => on_path(Path::new("node")),
        }
    }
}

fn on_path(node: &Path) -> Result<PathBuf> {
    let version = output(Command::new(node).arg("--version"))?;
    match major(&version) {
        Some(major) if major >= OLDEST_NODE => Ok(node.to_path_buf()),
        _ => Err(Failure::new(format!("Node.js {OLDEST_NODE} is needed, and `node` is {}", version.trim()))),
    }
}

/// The first number of a version as `node --version` prints it.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_locks_name_no_address() {
        assert_eq!((major("v22.23.3\n"), major("22"), major("")), (Some(22), None, None));
        let lock = read(&root().join("conformance/official/package-lock.json")).unwrap();
        assert!(!lock.contains("\"resolved\""));
    }
}
