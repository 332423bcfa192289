//! Files that a line copies or moves into a folder, under names that only the sources tell.

use std::fs::read_dir;
use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Access, Guarded};
use phasegate_shell::{Judgement, Part, Pattern, Piece};

use super::arguments::is_one_of;
use super::descendants::has_option;
use super::guarded::Place;
use super::matched::matched;
use super::rough::patterns;
use super::word_paths::{folders, is_option, last_name, within};
use crate::protected::pattern::stands_for;
use crate::protected::protected_path::{Change, fold};

/// The programs that put things into a folder under the names that these have.
const PROGRAMS: [&str; 8] = ["cp", "gcp", "ditto", "mv", "install", "ln", "rsync", "scp"];
/// The one that puts second names of files there.
const LINKER: [&str; 1] = ["ln"];
/// Those that leave folders out unless an option says otherwise.
const COPIERS: [&str; 4] = ["cp", "gcp", "install", "scp"];
/// Those that list what is in a folder.
const SEARCHES: [&str; 4] = ["find", "ls", "fd", "tree"];
/// The most entries of the folders that a line copies that are looked at.
const MAX_ENTRIES: usize = 4096;

/// What comes to lie in a folder.
enum Source {
    /// The file or the folder at this path, which is absolute.
    At(PathBuf),
    /// As [`Source::At`], but one of several that it may be.
    Maybe(PathBuf),
    /// What the line makes in this folder, which is absolute.
    MadeIn(PathBuf),
    /// Something with this last name, known in part, out of a folder that is not known.
    Named(Pattern),
}

/// How a part copies.
struct Copy<'a> {
    /// What the line makes, as absolute paths.
    made: &'a [PathBuf],
    /// Whether second names are put there, and not what is in a folder.
    links: bool,
    /// Whether folders are copied with what is in them.
    whole: bool,
}

impl Place<'_> {
    /// What of the guard a line would overwrite, or add, by copying or moving into a folder.
    pub(super) fn copied(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        if !judged.parts.iter().any(copies) {
            return Vec::new();
        }
        let written = judged.touches.iter().filter(|touch| touch.access == Access::Write);
        let made: Vec<PathBuf> =
            written.filter_map(|touch| touch.path.text()).map(|path| self.absolute(&path)).collect();
        let mut left = MAX_ENTRIES;
        let mut found = Vec::new();
        for (number, part) in (0_u32..).zip(&judged.parts).filter(|(_, part)| copies(part)) {
            let (mut sources, unnamed) = self.sources(part);
            if unnamed {
                sources.extend(self.listed_elsewhere(judged, line));
            }
            let links = is_one_of(part, &LINKER);
            let whole = !links && (!is_one_of(part, &COPIERS) || has_option(part, "rRa"));
            let copy = Copy { made: &made, links, whole };
            for (target, there) in self.targets(judged, number, part, &made) {
                if unnamed && there {
                    found.extend(self.in_folder_of_its_own(&target));
                }
                found.extend(sources.iter().find_map(|source| self.lands(&copy, source, &target, there, &mut left)));
            }
        }
        found
    }

    /// What of the guard lies right in a folder, where that is not one around the line's: what comes there may have its name.
    pub(super) fn in_folder_of_its_own(&self, folder: &Path) -> Option<Guarded> {
        if self.base.starts_with(folder) {
            return None;
        }
        let (name, part) = self.protected.below(folder).into_iter().find(|(name, _)| name.components().count() == 1)?;
        Some(Guarded { part, path: folder.join(name).to_string_lossy().into_owned() })
    }

    /// What the words of a part may name as sources, seen from each folder that it may run in; and whether some of it may
    /// have any name.
    fn sources(&self, part: &Part) -> (Vec<Source>, bool) {
        let (mut sources, mut unnamed) = (Vec::new(), false);
        for from in folders(part) {
            for word in part.words.iter().skip(1).filter(|word| !is_option(word)) {
                let any = matches!(word.0.last(), Some(Piece::Any | Piece::Tree));
                unnamed |= any;
                let path = within(&from, word);
                match (path.text(), any) {
                    (Some(text), _) => sources.push(Source::At(self.absolute(&text))),
                    // What another program lists, as `ls` does, lies in the folder that the part runs in.
                    (None, true) => {
                        let start = match path.0.first() {
                            Some(Piece::Text(start)) => Some(before_last(start).to_owned()),
                            _ => from.text().map(|from| if from.is_empty() { ".".to_owned() } else { from }),
                        };
                        sources.extend(start.map(|folder| self.entries(&folder)).unwrap_or_default());
                    }
                    (None, false) => {
                        let known = path.0.iter().all(|piece| !matches!(piece, Piece::Any | Piece::Tree));
                        let found = matched(&path, self.base, self.protected.home());
                        sources.extend(found.into_iter().map(Source::At));
                        let start = path.0.first().filter(|_| known);
                        let folder = start.map(|first| if let Piece::Text(text) = first { text.as_str() } else { "" });
                        sources.extend(folder.map(|start| Source::MadeIn(self.absolute(before_last(start)))));
                        let name = Some(last_name(&path)).filter(|name| !known && has_text(name));
                        sources.extend(name.map(Source::Named));
                    }
                }
            }
        }
        (sources, unnamed)
    }

    /// What a line lists in one place and may copy in another: by its patterns of names, and by its searches.
    fn listed_elsewhere(&self, judged: &Judgement, line: &str) -> Vec<Source> {
        let home = self.protected.home();
        let named = patterns(line).into_iter().flat_map(|names| matched(&names, self.base, home)).map(Source::Maybe);
        let searched = judged.parts.iter().filter(|part| is_one_of(part, &SEARCHES)).flat_map(|part| {
            let words = part.words.iter().skip(1).filter(|word| !is_option(word)).filter_map(Pattern::text);
            words.filter(|word| self.absolute(word).is_dir()).collect::<Vec<_>>()
        });
        named.chain(searched.flat_map(|folder| self.entries(&folder))).collect()
    }

    /// Everything in a folder.
    fn entries(&self, folder: &str) -> Vec<Source> {
        let entries = read_dir(self.absolute(folder)).into_iter().flatten().flatten();
        entries.take(MAX_ENTRIES).map(|entry| Source::Maybe(entry.path())).collect()
    }

    /// The folders that a part puts things into: what it writes, and what it says first. One that is not known may be the
    /// folder that the line starts in.
    fn targets(&self, judged: &Judgement, number: u32, part: &Part, made: &[PathBuf]) -> Vec<(PathBuf, bool)> {
        let written = judged.touches.iter().filter(|touch| touch.access == Access::Write && touch.part == Some(number));
        let mut paths: Vec<PathBuf> = Vec::new();
        for touch in written {
            match touch.path.text() {
                Some(text) => paths.push(self.absolute(&text)),
                None => {
                    let found = matched(&touch.path, self.base, self.protected.home());
                    let here = found.is_empty().then(|| self.absolute("."));
                    paths.extend(found.into_iter().chain(here));
                }
            }
        }
        for from in folders(part) {
            let named = targets(part).into_iter().map(|word| within(&from, &Pattern::known(&word)));
            paths.extend(named.filter_map(|path| path.text()).map(|path| self.absolute(&path)));
        }
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|path| !path.is_file());
        let makes = |path: &Path| {
            made.iter().filter(|one| one.starts_with(path)).any(|one| one != path) || self.is_made_folder(judged, path)
        };
        paths
            .into_iter()
            .map(|path| {
                let there = path.is_dir() || makes(&path);
                (path, there)
            })
            .collect()
    }

    /// Whether a command that makes folders makes this one.
    fn is_made_folder(&self, judged: &Judgement, path: &Path) -> bool {
        let makes = |number: Option<u32>| {
            let part = number.and_then(|number| judged.parts.get(usize::try_from(number).ok()?));
            part.is_some_and(|part| is_one_of(part, &["mkdir", "install"]))
        };
        let folders = judged.touches.iter().filter(|touch| touch.access == Access::Write && makes(touch.part));
        folders.filter_map(|touch| touch.path.text()).any(|folder| self.absolute(&folder) == path)
    }

    /// What of the guard a source would be, or hold, in a folder.
    fn lands(&self, copy: &Copy<'_>, source: &Source, folder: &Path, there: bool, left: &mut usize) -> Option<Guarded> {
        let guarded = |path: PathBuf, part| Guarded { part, path: path.to_string_lossy().into_owned() };
        let from = match source {
            Source::At(from) | Source::Maybe(from) | Source::MadeIn(from) => from,
            Source::Named(name) => return self.may_land(name, folder),
        };
        let is_made = |path: &Path| {
            let makes = |made: &&PathBuf| path.starts_with(made) && made.starts_with(from) && *made != from;
            copy.made.iter().any(|made| makes(&made))
        };
        let only_made = matches!(source, Source::MadeIn(_));
        let is_there = |path: &Path| is_made(path) || (!only_made && path.symlink_metadata().is_ok());
        let own = from.file_name().filter(|_| !only_made);
        let mut below = self.protected.below(folder).into_iter();
        let overwritten = below.find(|(name, _)| {
            // The source itself comes to lie in the folder, or what is in it does.
            let itself = own.filter(|_| from.parent() != Some(folder)).and_then(|own| name.strip_prefix(own).ok());
            itself.is_some_and(|rest| rest.as_os_str().is_empty() || is_there(&from.join(rest)))
                || (from != folder && is_there(&from.join(name)))
        });
        if let Some((name, part)) = overwritten {
            return Some(guarded(folder.join(name), part));
        }
        if !matches!(source, Source::At(_)) {
            return None;
        }
        let mut to = vec![own.filter(|_| there).map_or_else(|| folder.to_path_buf(), |own| folder.join(own))];
        let mut names = vec![PathBuf::new()];
        if copy.whole {
            to.push(folder.to_path_buf());
            names.extend(self.places_in(from, copy.made, left));
        }
        // A link with the name of a folder has all that would lie in it.
        let change = if copy.links { Change::Remove } else { Change::Write };
        let paths = to.iter().flat_map(|to| names.iter().map(move |name| to.join(name)));
        paths
            .filter(|path| !from.starts_with(path) && !path.starts_with(from))
            .find_map(|path| Some(guarded(path.clone(), self.protected.part(&self.absolute(path.to_str()?), change)?)))
    }

    /// What of the guard something with this name would be in a folder.
    fn may_land(&self, name: &Pattern, folder: &Path) -> Option<Guarded> {
        let stands = |path: &Path| {
            let first = path.iter().next().map(|first| fold(&first.to_string_lossy()));
            first.is_some_and(|first| stands_for(name, &first, ""))
        };
        let (path, part) = self.protected.below(folder).into_iter().find(|(path, _)| stands(path))?;
        Some(Guarded { part, path: folder.join(path).to_string_lossy().into_owned() })
    }

    /// The paths below a folder, from there, of which a name is one that clients look for in every folder.
    fn places_in(&self, folder: &Path, made: &[PathBuf], left: &mut usize) -> Vec<PathBuf> {
        let begins = |path: &Path| path.iter().any(|name| self.protected.begins_place(&name.to_string_lossy()));
        let made = made.iter().filter_map(|path| path.strip_prefix(folder).ok()).map(Path::to_path_buf);
        let mut found: Vec<PathBuf> = made.filter(|path| begins(path)).collect();
        // In the project nobody but a person put such a file there.
        let mut open = if self.protected.is_inside(folder) { Vec::new() } else { vec![PathBuf::new()] };
        while let Some(at) = open.pop() {
            for entry in read_dir(folder.join(&at)).into_iter().flatten().flatten().take(*left) {
                *left = left.saturating_sub(1);
                let path = at.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path.clone());
                }
                // Within such a folder everything counts, whatever its name.
                let named = folder.file_name().map(Path::new).is_some_and(begins) || begins(&path);
                found.extend(named.then_some(path));
            }
        }
        found
    }
}

pub(super) fn copies(part: &Part) -> bool {
    is_one_of(part, &PROGRAMS)
}

/// The words of a part that says first what it puts things into.
fn targets(part: &Part) -> Vec<String> {
    let words: Vec<String> = part.words.iter().skip(1).filter_map(Pattern::text).collect();
    if !words.iter().any(|word| word.starts_with("-t") || word.starts_with("--t")) {
        return Vec::new();
    }
    let value = |word: &String| match word.strip_prefix("-t") {
        Some(folder) => Some(folder.to_string()),
        None => word.split_once('=').map(|(_, folder)| folder.to_string()),
    };
    words.iter().filter_map(value).chain(words.iter().cloned()).filter(|word| !word.is_empty()).collect()
}

fn has_text(name: &Pattern) -> bool {
    name.0.iter().any(|piece| matches!(piece, Piece::Text(text) if !text.is_empty()))
}

/// The folder that the last name of a path is in; the one where the path starts if it has one name.
fn before_last(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder })
}
