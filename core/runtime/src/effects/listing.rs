//! The names in a folder, as far as they are watched. They are read again only where the folder changed.

use std::path::Path;

use phasegate_core::analysis::Part;
use phasegate_core::glob::Glob;

use super::ignores::Ignores;
use super::manifest::{Folder, Rule};
use crate::paths::display;

/// The name of a file of a skill.
const SKILL_FILE: &str = "SKILL.md";
/// Folders of packages: too many files, of which settings name what is started.
const PACKAGES: &str = "node_modules";

/// What decides which names count.
pub(super) struct Names<'a> {
    pub(super) root: &'a Path,
    pub(super) globs: &'a [Glob],
    pub(super) ignores: Ignores<'a>,
}

impl Names<'_> {
    /// Adds the files of a folder that are watched and that it did not have, and gives the folders in it that are watched.
    pub(super) fn list(&mut self, folder: &mut Folder) -> Vec<Folder> {
        let mut below = Vec::new();
        for entry in std::fs::read_dir(&folder.path).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = folder.path.join(&name);
            match folder.rule {
                Rule::Named(_) => {}
                Rule::Skills if is_folder => {
                    let mut skill = Folder::new(path, Rule::Named(Part::Skill));
                    skill.add(SKILL_FILE);
                    below.push(skill);
                }
                Rule::Skills => {}
                Rule::Tree(_) if is_folder && name == PACKAGES => {}
                Rule::Tree(_) if is_folder => below.push(Folder::new(path, folder.rule)),
                Rule::Tree(_) => folder.add(&name),
                Rule::Globs if folder.ignored.contains(&name) => {}
                Rule::Globs => {
                    let Some(relative) = display(self.root, &path) else { continue };
                    let counts = if is_folder { self.may_hold(&relative) } else { self.selects(&relative) };
                    if !counts {
                        continue;
                    }
                    if self.ignores.ignores(&folder.path, &path, is_folder) {
                        folder.ignored.push(name);
                    } else if is_folder {
                        below.push(Folder::new(path, Rule::Globs));
                    } else {
                        folder.add(&name);
                    }
                }
            }
        }
        below
    }

    fn may_hold(&self, folder: &str) -> bool {
        self.globs.iter().any(|glob| glob.may_lie_in(folder))
    }

    fn selects(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.fits(path))
    }
}
