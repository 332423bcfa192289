//! One protected path: what it is, how far it reaches, and which paths touch it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use phasegate_core::calls::analysis::Part;

/// A name that stands for any one, in folded names.
const ANY: &str = "*/";
/// The most folders that a `*` of a place stands for.
const MAX_FOLDERS: usize = 4096;

/// What a call does to a path, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It makes or changes what is there.
    Write,
    /// It removes what is there, with everything below it.
    Remove,
}

/// How far below its path a place reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path and everything below it.
    Tree,
    /// The path alone.
    Alone,
    /// A folder of skills: itself, its entries, and the `SKILL.md` in each.
    Skills,
}

/// A protected path. A name `*` in it stands for any one name.
#[derive(Clone, Debug)]
pub(crate) struct ProtectedPath {
    pub(crate) path: PathBuf,
    pub(crate) part: Part,
    pub(crate) reach: Reach,
    /// Whether a name of it stands for any one.
    pub(crate) open: bool,
    folded: Folded,
}

/// The names of a path, folded, each with a slash behind it.
#[derive(Clone, Debug)]
pub(super) struct Folded(String);

impl ProtectedPath {
    pub(super) fn new(path: PathBuf, part: Part, reach: Reach) -> Self {
        let folded = Folded::of(&path);
        Self { open: folded.0.contains(ANY), folded, path, part, reach }
    }

    /// The places that it stands for, as far as they are there.
    pub(super) fn expanded(&self) -> Vec<Self> {
        expanded(&self.path).into_iter().map(|path| Self::new(path, self.part, self.reach)).collect()
    }

    /// The names of the place, with those of the path in the place of each `*`.
    fn named_as(&self, path: &Folded) -> Cow<'_, str> {
        let place = self.folded.0.as_str();
        if !self.open {
            return Cow::Borrowed(place);
        }
        let mut names = path.0.split('/').filter(|name| !name.is_empty());
        let known = place.split_terminator('/').map(|own| match names.next() {
            Some(theirs) if own == "*" => theirs,
            _ => own,
        });
        Cow::Owned(known.flat_map(|name| [name, "/"]).collect())
    }

    /// Whether a change of the path with these names touches the place.
    pub(super) fn touched(&self, path: &Folded, change: Change) -> bool {
        let named = self.named_as(path);
        let (place, path) = (named.as_ref(), path.0.as_str());
        if place.starts_with(path) && (change == Change::Remove || place.len() == path.len()) {
            return true;
        }
        let Some(below) = path.strip_prefix(place) else { return false };
        match self.reach {
            Reach::Tree => true,
            Reach::Alone => false,
            Reach::Skills => match below.trim_end_matches('/').split_once('/') {
                Some((_, file)) => file == fold("SKILL.md"),
                None => !below.is_empty(),
            },
        }
    }
}

impl Folded {
    pub(super) fn of(path: &Path) -> Self {
        let mut names = String::with_capacity(path.as_os_str().len() + 1);
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push_str(&name.to_string_lossy()),
                Component::ParentDir => names.push_str(".."),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => continue,
            }
            names.push('/');
        }
        Self(if names.is_ascii() { names.to_ascii_lowercase() } else { fold(&names) })
    }

    /// The path from each folder below the root; none if it does not lie there.
    pub(super) fn below_each(&self, root: &Self) -> Vec<Self> {
        let Some(below) = self.0.strip_prefix(&root.0) else { return Vec::new() };
        let rest = below.match_indices('/').filter_map(|(at, _)| below.get(at + 1..));
        rest.filter(|rest| !rest.is_empty()).map(|rest| Self(rest.to_string())).collect()
    }

    /// The path from the root, and from each folder below it; none if it does not lie there.
    pub(super) fn at_each(&self, root: &Self) -> Vec<Self> {
        let whole = self.0.strip_prefix(&root.0).map(|below| Self(below.to_owned()));
        whole.into_iter().chain(self.below_each(root)).collect()
    }

    /// Whether one of the names is this, which is folded.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.split('/').any(|own| own == name)
    }
}

/// The places that a path stands for: each folder that is there takes the place of a `*`.
pub(crate) fn expanded(place: &Path) -> Vec<PathBuf> {
    let mut names = place.components();
    let before: PathBuf = names.by_ref().take_while(|name| name.as_os_str() != "*").collect();
    if before == place {
        return vec![before];
    }
    let behind = names.as_path();
    let entries = std::fs::read_dir(&before).into_iter().flatten().flatten().take(MAX_FOLDERS);
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.flat_map(|folder| expanded(&folder.join(behind))).collect()
}

/// The files of a place that exist.
pub(super) fn files(place: &Path, reach: Reach) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    match reach {
        Reach::Alone => vec![place.to_path_buf()],
        Reach::Skills => entries(place).into_iter().map(|skill| skill.join("SKILL.md")).collect(),
        Reach::Tree => {
            let (folders, mut files): (Vec<_>, Vec<_>) = entries(place).into_iter().partition(|path| path.is_dir());
            files.extend(folders.iter().flat_map(|folder| entries(folder)));
            files
        }
    }
}

/// What is in the folders of a place of configs or skills, and whether it is a link. The folders that were looked into are
/// added to `read`.
pub(super) fn entries_in(place: &ProtectedPath, read: &mut BTreeSet<PathBuf>) -> Vec<(PathBuf, bool)> {
    let mut entries = |folder: &Path| {
        read.insert(folder.to_path_buf());
        std::fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>()
    };
    let folders = if place.reach == Reach::Alone { Vec::new() } else { expanded(&place.path) };
    let mut all: Vec<_> = folders.iter().flat_map(|folder| entries(folder)).collect();
    if place.reach == Reach::Tree {
        let folders = all.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let below: Vec<_> = folders.flat_map(|folder| entries(&folder.path())).collect();
        all.extend(below);
    }
    let link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    all.iter().map(|entry| (entry.path(), link(entry))).collect()
}

/// How far a place of the platforms' reaches: a folder's name ends with a slash.
pub(super) fn reach_of(place: &Path) -> Reach {
    if place.as_os_str().as_encoded_bytes().ends_with(b"/") { Reach::Tree } else { Reach::Alone }
}

/// A name as the most forgiving file system compares it: without case, and without characters that some leave out.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().filter(|c| !unseen(*c)).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Characters that have no width, and that some file systems leave out of a name.
fn unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}
