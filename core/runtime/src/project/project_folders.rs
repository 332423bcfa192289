//! The names in a project's folders, which the paths of configs are held against.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use phasegate_config::Known;

use crate::project::Project;
use crate::runtime::Runtime;

/// So many folders are read at most, the outer ones first; what lies in others is not known.
const FOLDERS: usize = 500;
/// How the folders end in which platforms look for types of subagents.
const AGENTS: [&str; 2] = ["/agents/", "/agent/"];
/// Folders that tools fill.
const FILLED: [&str; 3] = [".git", "node_modules", "target"];

impl Runtime {
    /// What is known of a project beside its configs.
    pub fn known(&self, project: &Project) -> Known {
        Known {
            servers: self.servers(project),
            folders: folders(&project.root),
            system: system(),
            root: project.root.to_str().unwrap_or_default().to_string(),
            agents: Some(self.agents(&project.root)),
            skills: Some(self.skills(project)),
        }
    }

    /// The types of subagents that files define where the platforms look for them: each file is named for its type.
    fn agents(&self, root: &Path) -> BTreeSet<String> {
        let places = self.platforms.places();
        let folders = places.settings.iter().filter(|place| AGENTS.iter().any(|end| place.ends_with(end)));
        let mut found = BTreeSet::new();
        for place in folders {
            found.extend(stems(&self.below(root, place)));
        }
        found
    }

    /// The skills that the platforms find in their folders, and those that configs can name.
    fn skills(&self, project: &Project) -> BTreeSet<String> {
        let places = self.platforms.places();
        let mut found: BTreeSet<String> =
            places.skill_folders.iter().flat_map(|place| stems(&self.below(&project.root, place))).collect();
        found.extend(stems(&project.root.join(".phasegate/skills")));
        found.extend(phasegate_config::shipped().iter().map(|shipped| shipped.name.to_string()));
        found
    }

    /// A place of a platform.
    fn below(&self, root: &Path, place: &str) -> PathBuf {
        place.strip_prefix("~/").map_or_else(|| root.join(place), |own| self.locations.home.join(own))
    }
}

/// The names in the root of the file system, where it has one root.
fn system() -> Option<BTreeSet<String>> {
    let entries = std::fs::read_dir("/").ok().filter(|_| cfg!(unix))?;
    Some(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// The names of what is in a folder, without their endings.
fn stems(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(FOLDERS);
    entries.filter_map(|entry| entry.path().file_stem().and_then(|name| name.to_str()).map(Into::into)).collect()
}

/// The names in the folders of a project, by the folder's path; links are not followed.
fn folders(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    let mut waiting = VecDeque::from([String::new()]);
    while let Some(folder) = waiting.pop_front().filter(|_| found.len() < FOLDERS) {
        let Ok(entries) = std::fs::read_dir(root.join(&folder)) else { continue };
        let mut names = BTreeSet::new();
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !FILLED.contains(&name.as_str()) {
                waiting.push_back(if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") });
            }
            names.insert(name);
        }
        found.insert(folder, names);
    }
    found
}
