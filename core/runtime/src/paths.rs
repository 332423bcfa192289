//! Paths: links, `.` and `..` resolved also where the end of the path does not exist yet.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The most links that one path may go through.
const LINKS: usize = 40;

/// What is known of the links on the way to paths, so that several paths are resolved by looking at each part once. It
/// is true for a moment only.
#[derive(Debug, Default)]
pub(crate) struct Links(RefCell<BTreeMap<OsString, Part>>);

/// What a part of a path is, without following it.
#[derive(Clone, Debug)]
enum Part {
    /// Something that is no link, or nothing.
    Plain,
    /// A link that leads there.
    Link(PathBuf),
    /// It cannot be known.
    Hidden,
}

/// The path that `written` means, seen from the folder `base`; `None` if that cannot be known.
#[must_use]
pub fn resolve(base: &Path, written: &Path) -> Option<PathBuf> {
    Links::default().resolve(base, written)
}

/// The path as policies and transcripts write it: relative to `root` inside of it, absolute elsewhere.
#[must_use]
pub fn display(root: &Path, path: &Path) -> Option<String> {
    let shown = match path.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    };
    shown.to_str().map(str::to_string)
}

impl Links {
    /// As [`resolve`]: one part after the other; from the first part on that does not exist, by words alone.
    pub(crate) fn resolve(&self, base: &Path, written: &Path) -> Option<PathBuf> {
        let whole = base.join(written);
        // Elsewhere the system knows more of a name than its links, such as its case.
        if cfg!(not(target_os = "linux"))
            && let Ok(found) = whole.canonicalize()
        {
            return Some(found);
        }
        let mut rest: VecDeque<OsString> = parts(&whole);
        let mut done = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(&part);
            match self.look(&done) {
                Part::Plain => {}
                Part::Link(target) => {
                    links += 1;
                    if links > LINKS {
                        return None;
                    }
                    done.pop();
                    if target.is_absolute() {
                        done = PathBuf::from("/");
                    }
                    let mut before = parts(&target);
                    before.append(&mut rest);
                    rest = before;
                }
                Part::Hidden => return None,
            }
        }
        Some(done)
    }

    fn look(&self, path: &Path) -> Part {
        if let Some(known) = self.0.borrow().get(path.as_os_str()) {
            return known.clone();
        }
        let found = match path.symlink_metadata() {
            Ok(data) if data.is_symlink() => path.read_link().map_or(Part::Hidden, Part::Link),
            Ok(_) => Part::Plain,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Part::Plain,
            Err(_) => Part::Hidden,
        };
        self.0.borrow_mut().insert(path.as_os_str().to_os_string(), found.clone());
        found
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(part.to_os_string()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_dots_are_resolved_also_where_the_file_is_still_to_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("src/deep", root.join("in")).unwrap();
        symlink("new.txt", root.join("src/dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let shown = |written: &str| resolve(&root, Path::new(written)).and_then(|path| display(&root, &path));
        assert_eq!(shown("src/./a.rs").unwrap(), "src/a.rs");
        assert_eq!(shown("src/../a.rs").unwrap(), "a.rs");
        assert_eq!(shown("in/../b.rs").unwrap(), "src/b.rs");
        assert_eq!(shown("out/hosts.new").unwrap(), "/etc/hosts.new");
        assert_eq!(shown("src/dangling").unwrap(), "src/new.txt");
        assert_eq!(shown(".").unwrap(), ".");
        assert_eq!(shown("loop/x"), None);
    }
}
