//! Files that a line copies or moves into a folder, under names that only the sources tell.

use std::path::{Path, PathBuf};

use phasegate_core::analysis::{Access, Guarded, Word};
use phasegate_shell::{Judgement, Part, Pattern, Piece};

use super::guarded::Place;

/// The programs that put things into a folder under the names that these have.
const PROGRAMS: [&str; 6] = ["cp", "mv", "install", "ln", "rsync", "scp"];

impl Place<'_> {
    /// What of the guard a line would overwrite by copying or moving into a folder that is there.
    pub(super) fn copied(&self, judged: &Judgement) -> Vec<Guarded> {
        let parts = || judged.parts.iter().filter(|part| copies(part));
        let sources: Vec<PathBuf> = parts().flat_map(|part| part.words.iter().skip(1)).filter_map(source).collect();
        let unnamed = parts().any(|part| part.words.iter().skip(1).any(is_any_name));
        if sources.is_empty() && !unnamed {
            return Vec::new();
        }
        let written = judged.touches.iter().filter(|touch| touch.access == Access::Write);
        let mut folders: Vec<String> = written.filter_map(|touch| touch.path.text()).collect();
        folders.extend(parts().flat_map(targets));
        let folders = folders.iter().map(|folder| self.absolute(folder)).filter(|path| path.is_dir());
        let lands = |folder: PathBuf| {
            let named = self.overwritten(&folder, &sources);
            named.or_else(|| if unnamed { self.in_folder_of_its_own(&folder) } else { None })
        };
        folders.filter_map(lands).collect()
    }

    /// What of the guard lies right in a folder, where that is not one around the line's: what comes there may have its name.
    pub(super) fn in_folder_of_its_own(&self, folder: &Path) -> Option<Guarded> {
        if self.base.starts_with(folder) {
            return None;
        }
        let (name, part) = self.protected.below(folder).into_iter().find(|(name, _)| name.components().count() == 1)?;
        Some(Guarded { part, path: folder.join(name).to_string_lossy().into_owned() })
    }

    fn overwritten(&self, folder: &Path, sources: &[PathBuf]) -> Option<Guarded> {
        let below = self.protected.below(folder);
        below.into_iter().find_map(|(name, part)| {
            let lands = sources.iter().any(|source| {
                let from = self.base.join(source);
                // The source itself comes to lie in the folder, or what is in it does.
                let itself = source.file_name().and_then(|own| name.strip_prefix(own).ok());
                itself.is_some_and(|rest| rest.as_os_str().is_empty() || from.join(rest).symlink_metadata().is_ok())
                    || from.join(&name).symlink_metadata().is_ok_and(|_| self.absolute_path(&from) != folder)
            });
            lands.then(|| Guarded { part, path: folder.join(&name).to_string_lossy().into_owned() })
        })
    }

    fn absolute_path(&self, path: &Path) -> PathBuf {
        path.to_str().map_or_else(|| path.to_path_buf(), |text| self.absolute(text))
    }
}

pub(super) fn copies(part: &Part) -> bool {
    let Some(Word::Known(program)) = part.command.words.first() else { return false };
    program.rsplit('/').next().is_some_and(|name| PROGRAMS.contains(&name))
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

/// Whether a word may have any last name: what a search finds, or what another program hands on.
fn is_any_name(word: &Pattern) -> bool {
    matches!(word.0.last(), Some(Piece::Any | Piece::Tree))
}

/// What a word may name as a source; of a pattern of names, the folder that they are in.
fn source(word: &Pattern) -> Option<PathBuf> {
    match word.text() {
        Some(text) if text.starts_with('-') => None,
        Some(text) => Some(PathBuf::from(text)),
        None => {
            let Some(Piece::Text(start)) = word.0.first() else { return None };
            start.rsplit_once('/').map(|(folder, _)| PathBuf::from(folder))
        }
    }
}
