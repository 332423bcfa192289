//! Paths: links, `.` and `..` resolved also where the end of the path does not exist yet.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::bounds::MAX_PATH_BYTES;

/// The most links that one path may go through.
const LINKS: usize = 40;

/// What is known of the links on the way to paths, so that several paths are resolved by looking at each part once. What
/// it looks at itself is true for a moment only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// Results that a directory snapshot keeps valid.
    known: Arc<Looks>,
    own: RefCell<Looks>,
}

/// What was found at paths.
pub(crate) type Looks = HashMap<OsString, Part>;

/// What a part of a path is, without following it.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Something that is no link.
    Plain,
    /// A link that leads there.
    Link(PathBuf),
    /// Nothing.
    Missing,
    /// It cannot be known.
    Hidden,
}

/// The path that `written` means, seen from the folder `base`; `None` if that cannot be known.
pub fn resolve(base: &Path, written: &Path) -> Option<PathBuf> {
    Links::default().resolve(base, written)
}

/// The path as policies and transcripts write it: relative to `root` inside of it, absolute elsewhere.
pub fn display(root: &Path, path: &Path) -> Option<String> {
    let shown = match path.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    };
    shown.to_str().map(str::to_string)
}

/// The path of the project that a folder's path leads to, or `/` where the project lies below it: then it is around all of
/// the project's paths.
pub(crate) fn shown(root: &Path, found: Option<PathBuf>) -> Option<String> {
    let found = found?;
    if found != root && root.starts_with(&found) { Some("/".to_string()) } else { display(root, &found) }
}

impl Links {
    /// The same, with known results that a directory snapshot keeps valid.
    pub(crate) fn knowing(known: Arc<Looks>) -> Self {
        Self { known, own: RefCell::default() }
    }

    /// What was looked at, besides what was known before.
    pub(crate) fn looks(self) -> Looks {
        self.own.into_inner()
    }

    /// Whether there is something at an absolute path; also where that cannot be known.
    pub(crate) fn there(&self, path: &Path) -> bool {
        self.resolve(Path::new("/"), path).is_none_or(|path| !matches!(self.look(&path), Part::Missing))
    }

    /// As [`resolve`]: one part after the other; from the first part on that does not exist, by words alone.
    pub(crate) fn resolve(&self, base: &Path, written: &Path) -> Option<PathBuf> {
        let whole = base.join(written);
        // What no system knows, a client may still make shorter: it stays in doubt.
        if whole.as_os_str().len() > MAX_PATH_BYTES {
            return None;
        }
        // Elsewhere the system knows more of a name than its links, such as its case.
        if cfg!(not(target_os = "linux"))
            && let Ok(found) = whole.canonicalize()
        {
            return Some(found);
        }
        self.without_links(&whole).or_else(|| self.through_links(&whole))
    }

    /// The path, if there is no link on the way to it.
    fn without_links(&self, whole: &Path) -> Option<PathBuf> {
        let mut done = PathBuf::with_capacity(whole.as_os_str().len());
        done.push("/");
        for component in whole.components() {
            match component {
                Component::Normal(part) => {
                    done.push(part);
                    if matches!(self.look(&done), Part::Link(_) | Part::Hidden) {
                        return None;
                    }
                }
                Component::ParentDir => drop(done.pop()),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        Some(done)
    }

    fn through_links(&self, whole: &Path) -> Option<PathBuf> {
        let mut rest: VecDeque<OsString> = parts(whole);
        let mut done = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                done.pop();
                continue;
            }
            done.push(&part);
            match self.look(&done) {
                Part::Plain | Part::Missing => {}
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
        if let Some(known) = self.found(path) {
            return known;
        }
        // Below nothing there is nothing.
        let above = path.parent().and_then(|above| self.found(above));
        let found = if matches!(above, Some(Part::Missing)) { Part::Missing } else { look(path) };
        self.own.borrow_mut().insert(path.as_os_str().to_os_string(), found.clone());
        found
    }

    fn found(&self, path: &Path) -> Option<Part> {
        let path = path.as_os_str();
        self.known.get(path).cloned().or_else(|| self.own.borrow().get(path).cloned())
    }
}

fn look(path: &Path) -> Part {
    match path.symlink_metadata() {
        Ok(data) if data.is_symlink() => path.read_link().map_or(Part::Hidden, Part::Link),
        Ok(_) => Part::Plain,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Part::Missing,
        Err(_) => Part::Hidden,
    }
}

/// The folders that say whether what was found there is still so: it is for as long as nothing is made in them, or taken
/// from them.
pub(crate) fn folders(looks: &Looks) -> BTreeSet<PathBuf> {
    let there = |folder: &&Path| !matches!(looks.get(folder.as_os_str()), Some(Part::Missing));
    looks.keys().filter_map(|path| Path::new(path).parent()).filter(there).map(Path::to_path_buf).collect()
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
