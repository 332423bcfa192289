//! The paths that git tracks, as its index names them (versions 2 to 4 of git's `index-format`).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::project::repository::git_folder;

/// The largest index that is read, in bytes: about 200,000 files.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// What stands before the flags of an entry, where names of objects are SHA-1: times, numbers and the name of the object.
const BEFORE_FLAGS: usize = 60;
/// The flag of an entry with two bytes more of flags.
const EXTENDED: u16 = 0x4000;

/// The tracked files of the repository that holds the folder, as paths below the folder. Without a repository there are
/// none; `None` if its index cannot be read.
pub(super) fn below(folder: &Path) -> Option<Vec<String>> {
    let Some(top) = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()) else {
        return Some(Vec::new());
    };
    let Ok(file) = File::open(git_folder(top)?.join("index")) else { return Some(Vec::new()) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if u64::try_from(bytes.len()).ok()? > MAX_BYTES {
        return None;
    }
    let prefix = folder.strip_prefix(top).ok()?;
    let inside = |name: String| Some(Path::new(&name).strip_prefix(prefix).ok()?.to_str()?.to_owned());
    Some(names(&bytes)?.into_iter().filter_map(inside).collect())
}

/// The names of an index, in its order.
fn names(index: &[u8]) -> Option<Vec<String>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let version = number(4).filter(|version| index.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let (mut at, mut names, mut last) = (12_usize, Vec::new(), Vec::new());
    for _ in 0..number(8)? {
        let start = at;
        let flags = at.checked_add(BEFORE_FLAGS)?;
        let extended = u16::from_be_bytes(index.get(flags..flags.checked_add(2)?)?.try_into().ok()?) & EXTENDED != 0;
        at = flags.checked_add(if extended { 4 } else { 2 })?;
        if version == 4 {
            let (dropped, read) = offset(index.get(at..)?)?;
            at = at.checked_add(read)?;
            last.truncate(last.len().checked_sub(dropped)?);
        } else {
            last.clear();
        }
        let rest = index.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        last.extend_from_slice(rest.get(..end)?);
        names.push(String::from_utf8_lossy(&last).into_owned());
        at = at.checked_add(end)?;
        // One to eight zero bytes end an entry of the older versions at a multiple of eight.
        let entry = at.checked_sub(start)?;
        at = at.checked_add(if version == 4 { 1 } else { 8 - entry % 8 })?;
    }
    Some(names)
}

/// A number as version 4 writes it, and how many bytes it has.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, at.checked_add(1)?));
        }
        value = value.checked_add(1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn every_version_of_an_index_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |words: &[&str]| {
            let run = Command::new("git").args(["-C", root.to_str().unwrap()]).args(words).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        };
        assert_eq!(below(root), Some(vec![]));
        git(&["init", "-q"]);
        assert_eq!(below(root), Some(vec![]));
        let mut wanted = Vec::new();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        for number in 0..300 {
            let name = format!(
                "src/{}{}.py",
                if number % 3 == 0 { "deep/" } else { "" },
                "n".repeat(number % 40) + &number.to_string()
            );
            fs::write(root.join(&name), "").unwrap();
            wanted.push(name);
        }
        git(&["add", "-f", "src"]);
        wanted.sort();
        for version in ["2", "4"] {
            git(&["update-index", "--index-version", version]);
            assert_eq!(below(root).unwrap(), wanted, "version {version}");
        }
        git(&["update-index", "--index-version", "3"]);
        git(&["update-index", "--skip-worktree", &wanted[7]]);
        assert_eq!(below(root).unwrap(), wanted, "with more flags");
        let inside: Vec<_> =
            wanted.iter().filter_map(|name| Some(name.strip_prefix("src/deep/")?.to_owned())).collect();
        assert_eq!(below(&root.join("src/deep")).unwrap(), inside);
        fs::write(root.join(".git/index"), b"DIRC\0\0\0\x02\0\0\xff\xff").unwrap();
        assert_eq!(below(root), None);
    }
}
