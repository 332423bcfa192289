//! A look: what of the watched files is not as it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::Part;
use phasegate_core::values::glob::Glob;

use super::content;
use super::copies::Copies;
use super::ignores::Ignores;
use super::listing::Names;
use super::manifest::{Folder, Manifest, Rule, WatchedFile};
use super::stamp::{OpenFolder, Stamp};
use super::{MAX_FILES, MAX_FOLDERS};

/// The most folders of a project in which a client may be started, the shallow ones first.
const MAX_STARTS: usize = 256;
/// The most bytes that one look reads.
const MAX_READ: u64 = 64 * 1024 * 1024;

/// Stands for the content of a file whose change by a call was open when the watch began.
const OPEN: &str = "open";

/// The folders of a manifest, each with what its rule looks for in folders below.
type Known = BTreeSet<(PathBuf, u8)>;

/// Where a look looks.
pub(crate) struct Ground<'a> {
    pub(crate) root: &'a Path,
    /// The keys of settings that clients change themselves.
    pub(crate) client_keys: &'a [String],
    /// What clients obey of a project, by its path below the folder that they are started in.
    pub(crate) client_files: &'a [String],
    /// The time now, in nanoseconds since 1970-01-01 UTC.
    pub(crate) now: i64,
    /// The files that calls changed although they might not, and that are not as they were.
    pub(crate) open: &'a [PathBuf],
}

/// A file that is not as it was.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) path: PathBuf,
    /// What it is to the guard; `None`: a skill names it.
    pub(crate) part: Option<Part>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    at: (usize, usize),
    stamp: Option<Stamp>,
    /// What it holds now, where that is small enough for a copy.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl Seen {
    /// A file of the guard's state that is not as it was left.
    pub(crate) fn lost(path: PathBuf) -> Self {
        let before = Some("lost".to_owned());
        Self { path, part: Some(Part::State), before, after: None, at: (0, 0), stamp: None, bytes: None }
    }
}

impl Manifest {
    /// Looks at the watched files. What differs stays as it was in the manifest until it is [settled](Self::settle).
    pub(crate) fn look(&mut self, ground: &Ground<'_>) -> Vec<Seen> {
        let globs: Vec<Glob> = self.globs.iter().map(|glob| Glob::from(glob.as_str())).collect();
        let ignores = Ignores::new(ground.root, self.began);
        let mut names = Names { root: ground.root, globs: &globs, ignores, client_files: ground.client_files };
        let mut known: Option<Known> = None;
        let (mut seen, mut read, mut at) = (Vec::new(), 0, 0);
        while at < self.folders.len() {
            self.list_anew(at, &mut names, &mut known, ground.now);
            self.compare(at, ground, &mut read, &mut seen);
            at += 1;
        }
        seen
    }

    /// Reads the names of a folder again if it changed.
    fn list_anew(&mut self, at: usize, names: &mut Names<'_>, known: &mut Option<Known>, now: i64) {
        let (room, folders) = (MAX_FILES.saturating_sub(self.files()), self.folders.len());
        let Some(folder) = self.folders.get_mut(at).filter(|folder| !matches!(folder.rule, Rule::Named(_))) else {
            return;
        };
        let stamp = Stamp::of(&folder.path).filter(Stamp::is_folder);
        let same = match (&stamp, &folder.stamp) {
            (Some(now), Some(kept)) => now.same(kept),
            (now, kept) => now.is_none() && kept.is_none(),
        };
        if same {
            return;
        }
        folder.stamp = stamp.map(|stamp| stamp.kept(now));
        let before = folder.files.len();
        let mut below = names.list(folder);
        self.capped |= folder.files.len() > before.saturating_add(room);
        folder.files.truncate(before.saturating_add(room));
        self.dirty = true;
        if below.is_empty() {
            return;
        }
        let kind = |rule: Rule| u8::from(rule == Rule::Globs) + 2 * u8::from(rule == Rule::Starts);
        let key = |folder: &Folder| (folder.path.clone(), kind(folder.rule));
        let known = known.get_or_insert_with(|| self.folders.iter().map(key).collect());
        below.retain(|folder| known.insert(key(folder)));
        let mut starts = self.folders.iter().filter(|folder| folder.rule == Rule::Starts).count();
        below.retain(|folder| {
            starts += usize::from(folder.rule == Rule::Starts);
            folder.rule != Rule::Starts || starts <= MAX_STARTS
        });
        let room = MAX_FOLDERS.saturating_sub(folders);
        self.capped |= below.len() > room;
        below.truncate(room);
        self.folders.extend(below);
    }

    /// Compares the files of a folder.
    fn compare(&mut self, at: usize, ground: &Ground<'_>, read: &mut u64, seen: &mut Vec<Seen>) {
        let Some(folder) = self.folders.get_mut(at) else { return };
        let part = folder.rule.part();
        let opened = OpenFolder::new(&folder.path);
        for (number, file) in folder.files.iter_mut().enumerate() {
            let stamp = opened.stamp(&file.name).filter(|stamp| !stamp.is_folder());
            let same = match (&stamp, &file.stamp) {
                (Some(now), Some(kept)) => now.same(kept),
                (now, kept) => now.is_none() && kept.is_none(),
            };
            if same && (stamp.is_some() || file.digest.is_none()) {
                continue;
            }
            let path = folder.path.join(&file.name);
            let mut content = None;
            if let Some(stamp) = stamp {
                let unread = file.digest.as_deref().is_none_or(content::is_unread);
                if !unread || *read <= MAX_READ {
                    *read = read.saturating_add(stamp.size.min(content::MAX_BYTES));
                }
                // Where there is too much to read, what was read before stays; of what never was, its size and times count.
                content = match (*read > MAX_READ, unread) {
                    (true, false) => {
                        self.capped = true;
                        continue;
                    }
                    (true, true) => {
                        self.capped = true;
                        Some(content::unread(&stamp))
                    }
                    (false, _) if file.digest.as_deref().is_some_and(content::is_unread) => {
                        Some(content::unread(&stamp))
                    }
                    (false, _) => content::of(&path, &stamp, part, ground.client_keys),
                };
            }
            let stamp = stamp.map(|stamp| stamp.kept(ground.now));
            let (digest, bytes) = content.map_or((None, None), |content| (Some(content.digest), content.bytes));
            if digest == file.digest {
                file.stamp = stamp;
                self.dirty = true;
                continue;
            }
            // What it was while a call's change of it was open does not count: it is as somebody left it since.
            if file.digest.as_deref() == Some(OPEN) {
                if !ground.open.contains(&path) {
                    (file.digest, file.stamp, file.copied) = (digest, stamp, None);
                    self.dirty = true;
                }
                continue;
            }
            let before = file.digest.clone();
            seen.push(Seen { path, part, before, after: digest, at: (at, number), stamp, bytes });
        }
    }

    /// Takes a file for as it was in another manifest.
    pub(crate) fn put(&mut self, seen: &Seen, known: &WatchedFile) {
        let (folder, number) = seen.at;
        let file = self.folders.get_mut(folder).and_then(|folder| folder.files.get_mut(number));
        if let Some(file) = file {
            file.stamp = if known.digest == seen.after { seen.stamp } else { known.stamp };
            (file.digest, file.copied) = (known.digest.clone(), known.copied);
        }
    }

    /// Notes that a file is as a call left it that might not: it is no content to compare with.
    pub(crate) fn leave_open(&mut self, seen: &Seen) {
        let (folder, number) = seen.at;
        if let Some(file) = self.folders.get_mut(folder).and_then(|folder| folder.files.get_mut(number)) {
            file.digest = Some(OPEN.to_owned());
        }
    }

    /// Takes a file for as it should be, as it is now.
    pub(crate) fn settle(&mut self, seen: &Seen, copies: &mut Copies) {
        let (folder, number) = seen.at;
        let file = self.folders.get_mut(folder).and_then(|folder| folder.files.get_mut(number));
        if let Some(file) = file {
            file.copied = seen.bytes.as_deref().and_then(|bytes| copies.add(bytes));
            file.digest.clone_from(&seen.after);
            file.stamp = seen.stamp;
            self.dirty = true;
        }
    }
}
