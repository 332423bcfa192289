//! The names in a folder, as far as they are watched. They are read again only where the folder changed.

use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::Part;
use phasegate_core::values::glob::Glob;

use super::ignores::Ignores;
use super::manifest::{Folder, Rule};
use crate::locations::CONFIG_FOLDER;
use crate::project::paths::display;

/// The name of a file of a skill.
const SKILL_FILE: &str = "SKILL.md";
/// The folder within a client's own in which it makes other checkouts of the project, each a project of its own.
const CHECKOUTS: &str = "worktrees";
/// Folders of packages: too many files, of which settings name what is started.
const PACKAGES: &str = "node_modules";

/// What decides which names count.
pub(super) struct Names<'a> {
    pub(super) root: &'a Path,
    pub(super) globs: &'a [Glob],
    pub(super) ignores: Ignores<'a>,
    /// What clients obey of a project, by its path below the folder that they are started in.
    pub(super) client_files: &'a [String],
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
                Rule::Starts => below.extend(self.started_in(folder, &name, path, is_folder)),
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
                Rule::Globs if is_folder && name == CHECKOUTS && is_hidden(&folder.path) => {}
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

    /// What is watched of a folder in which a client may be started: its files there, or the folder of this name.
    fn started_in(&mut self, folder: &mut Folder, name: &str, path: PathBuf, is_folder: bool) -> Option<Folder> {
        let inside = |file: &String| {
            let rest = file.strip_prefix(name)?.strip_prefix('/')?;
            Some(rest.to_owned()).filter(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        if !is_folder && folder.path != self.root && self.client_files.iter().any(|file| file == name) {
            folder.add(name);
        }
        if !is_folder {
            return None;
        }
        let files: Vec<String> = self.client_files.iter().filter_map(inside).collect();
        if !files.is_empty() {
            let mut own = Folder::new(path, Rule::Named(Part::Settings));
            files.iter().for_each(|file| own.add(file));
            // Those of the project's own folder are watched anyhow.
            return (folder.path != self.root).then_some(own);
        }
        // A project of its own, which a session that is started there would go by.
        if name == CONFIG_FOLDER {
            return (folder.path != self.root).then(|| Folder::new(path, Rule::Tree(Part::Settings)));
        }
        let counts = !name.starts_with('.') && !self.ignores.ignores(&folder.path, &path, true);
        counts.then(|| Folder::new(path, Rule::Starts))
    }

    fn may_hold(&self, folder: &str) -> bool {
        self.globs.iter().any(|glob| glob.may_lie_in(folder))
    }

    fn selects(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.fits(path))
    }
}

fn is_hidden(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.'))
}
