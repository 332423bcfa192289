//! The protected paths. They are searched once and kept until a folder on the way to them changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use phasegate_adapter::Adapter;
use phasegate_core::calls::analysis::Part;

use super::protected_path::{ProtectedPath, Reach, entries_in, expanded, reach_of};
use super::snapshot::DirectorySnapshot;
use super::start_files;
use crate::bounds;
use crate::clients::platforms::PlatformPlaces;
use crate::locations::{CONFIG_FOLDER, Locations};
use crate::project::Project;
use crate::project::paths::{Links, Looks, folders};

/// The most projects whose places is kept.
const MAX_KEPT_PROJECTS: usize = 4;
/// The most links on the way from the one that hooks start to the program.
const MAX_STARTED: usize = 4;
/// How soon it is tried again to keep one, after that could not be.
const AGAIN: Duration = Duration::from_millis(100);

/// What says where the places are.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) locations: &'a Locations,
    pub(super) platforms: &'a PlatformPlaces,
}

/// What a places is for: the root of the project, where there is one, and the files that audit events are also written to.
type Key = (Option<PathBuf>, Vec<PathBuf>);

/// The places, and where links among the configs and the skills lead.
#[derive(Default)]
pub(super) struct Places {
    pub(super) paths: Vec<ProtectedPath>,
    /// What a project's places are called from its root: the client reads them in folders below, too.
    pub(super) names: Vec<ProtectedPath>,
    /// Found when they are asked for.
    pub(super) targets: OnceLock<Vec<ProtectedPath>>,
    /// The folders of `PATH` with an absolute name, without links. Found when they are asked for.
    pub(super) searched: OnceLock<Vec<PathBuf>>,
    /// The lookups that found them, if a directory snapshot keeps them valid.
    pub(super) looks: Arc<Looks>,
    /// Folders above the project that are known to be no guarded project.
    bare: Vec<PathBuf>,
    /// The platforms that have clients.
    loaders: Vec<&'static dyn Adapter>,
    /// The root of the project, where there is one.
    root: Option<PathBuf>,
    /// The user's home folder.
    home: PathBuf,
}

/// The cache of a process that decides more than once.
#[derive(Debug, Default)]
pub(crate) struct PlacesCache(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    key: Key,
    /// The places and the folders that vouch for it; `None`: it could not be kept, or was asked for only once.
    places: Option<(Arc<Places>, DirectorySnapshot)>,
    tried: Option<Instant>,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.paths.fmt(f)
    }
}

impl Places {
    /// Searches the protected paths.
    pub(super) fn new(sources: Sources<'_>, root: Option<&Path>, logs: &[PathBuf], links: &Links) -> Self {
        let mut found = Found { links, paths: Vec::new() };
        let locations = sources.locations;
        found.add(&locations.state, Part::State, Reach::Tree);
        found.add(&locations.user, Part::Policy, Reach::Tree);
        found.add(&locations.machine, Part::Policy, Reach::Tree);
        // A skill of the user's own is no other project's.
        let skills = sources.platforms.skill_folders.iter().filter_map(|folder| folder.strip_prefix("~/"));
        for folder in skills.filter(|_| root.is_some()) {
            found.add(&locations.home.join(folder), Part::Skill, Reach::Skills);
        }
        for file in sources.platforms.settings.iter().filter(|file| file.starts_with("~/") || file.starts_with('/')) {
            let file = file.strip_prefix("~/").map_or_else(|| PathBuf::from(file), |below| locations.home.join(below));
            found.add(&file, Part::Settings, reach_of(&file));
        }
        for file in start_files::of_user(&locations.home) {
            let reach = reach_of(&file);
            found.add(&file, Part::Settings, reach);
        }
        let clients = sources.platforms.clients.iter().filter(|client| client.program.guarded);
        let called = clients.flat_map(|client| client.program.names.iter().copied());
        for file in start_files::launchers(called, &path_entries()) {
            found.add(&file, Part::Settings, Reach::Alone);
        }
        for program in programs() {
            found.add(&program, Part::Program, Reach::Alone);
        }
        if let Some(program) = locations.program() {
            found.started(&program);
        }
        if let Some(root) = root {
            found.project(sources, root);
        }
        logs.iter().for_each(|log| found.add(log, Part::State, Reach::Alone));
        let names = if root.is_some() { names(sources) } else { Vec::new() };
        let mut loaders: Vec<_> = sources.platforms.clients.iter().map(|client| client.adapter).collect();
        loaders.dedup_by_key(|adapter| adapter.id());
        let (root, home) = (root.map(Path::to_path_buf), locations.home.clone());
        Self { paths: found.paths, names, loaders, root, home, ..Self::default() }
    }

    /// The places of a project alone.
    pub(super) fn of_project(sources: Sources<'_>, root: &Path, links: &Links) -> Vec<ProtectedPath> {
        let mut found = Found { links, paths: Vec::new() };
        found.project(sources, root);
        found.paths
    }

    /// Where the links among the configs and the skills lead: what lies there is read as if it lay here. The folders that
    /// were looked into are added to `read`.
    pub(super) fn targets(&self, links: &Links, read: &mut BTreeSet<PathBuf>) -> Vec<ProtectedPath> {
        let mut targets = Vec::new();
        for place in self.paths.iter().filter(|place| place.open) {
            let led = expanded(&place.path)
                .into_iter()
                .filter_map(|path| Some((links.resolve(Path::new("/"), &path)?, path)));
            let elsewhere = led.filter(|(target, path)| target != path);
            targets.extend(elsewhere.map(|(target, _)| ProtectedPath::new(target, place.part, place.reach)));
        }
        targets.extend(self.named_by_settings(links));
        // State is never read through links in it.
        for place in self.paths.iter().filter(|place| place.part != Part::State && links.there(&place.path)) {
            for link in entries_in(place, read).into_iter().filter(|(_, is_link)| *is_link).map(|(path, _)| path) {
                let Some(target) = links.resolve(Path::new("/"), &link) else { continue };
                if place.reach == Reach::Skills {
                    targets.push(ProtectedPath::new(target.join("SKILL.md"), place.part, Reach::Alone));
                    targets.push(ProtectedPath::new(target, place.part, Reach::Alone));
                } else {
                    targets.push(ProtectedPath::new(target, place.part, Reach::Tree));
                }
            }
        }
        targets
    }

    /// The folders that settings name, and that the client loads programs of its own from.
    fn named_by_settings(&self, links: &Links) -> Vec<ProtectedPath> {
        let Some(root) = &self.root else { return Vec::new() };
        let mut found = Vec::new();
        for installer in self.loaders.iter().map(|adapter| adapter.installer()) {
            for path in installer.places().settings_files(root, &self.home) {
                let Ok(text) = bounds::settings(&path) else { continue };
                let folders = installer.loads_from(&path, &text).into_iter();
                let real = folders.map(|folder| links.resolve(Path::new("/"), &folder).unwrap_or(folder));
                found.extend(real.map(|folder| ProtectedPath::new(folder, Part::Settings, Reach::Tree)));
            }
        }
        found
    }

    /// Whether the folder is known to be no guarded project.
    pub(super) fn is_bare(&self, folder: &Path) -> bool {
        self.bare.iter().any(|bare| bare.as_os_str() == folder.as_os_str())
    }

    /// The places with all that can be known of it, and the folders that vouch for it.
    fn lasting(sources: Sources<'_>, root: Option<&Path>, logs: &[PathBuf]) -> Option<(Self, DirectorySnapshot)> {
        let (since, links, mut read) = (SystemTime::now(), Links::default(), BTreeSet::new());
        let mut places = Self::new(sources, root, logs, &links);
        places.targets = OnceLock::from(places.targets(&links, &mut read));
        places.searched = OnceLock::from(searched(&links));
        // Most paths that are asked for lie below these, where another project may be.
        let above = root.into_iter().flat_map(Path::ancestors);
        let bare = |folder: &&Path| !links.there(&Project::at(sources.locations, folder).memory());
        places.bare = above.filter(bare).map(Path::to_path_buf).collect();
        let looks = links.looks();
        read.extend(folders(&looks));
        let watched = DirectorySnapshot::new(read, since)?;
        places.looks = Arc::new(looks);
        Some((places, watched))
    }
}

impl PlacesCache {
    /// The places as it is now, from the second time on as it was kept, if it can be; else found by looking at `links`.
    pub(super) fn get(
        &self,
        sources: Sources<'_>,
        root: Option<&Path>,
        logs: &[PathBuf],
        links: &Links,
    ) -> Arc<Places> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|kept| kept.key.0.as_deref() == root && kept.key.1 == logs);
        let mut kept = at.map(|at| all.remove(at));
        if let Some(kept) = &mut kept {
            kept.renew(sources, root, logs);
        }
        let places = kept.as_ref().and_then(|kept| kept.places.as_ref()).map(|(places, _)| Arc::clone(places));
        let new = || Kept { key: (root.map(Path::to_path_buf), logs.to_vec()), places: None, tried: None };
        all.insert(0, kept.unwrap_or_else(new));
        all.truncate(MAX_KEPT_PROJECTS);
        drop(all);
        places.unwrap_or_else(|| Arc::new(Places::new(sources, root, logs, links)))
    }
}

impl Kept {
    fn renew(&mut self, sources: Sources<'_>, root: Option<&Path>, logs: &[PathBuf]) {
        if self.places.as_ref().is_some_and(|(_, watched)| watched.same()) {
            return;
        }
        self.places = None;
        if self.tried.is_none_or(|tried| tried.elapsed() > AGAIN) {
            let lasting = Places::lasting(sources, root, logs);
            self.places = lasting.map(|(places, watched)| (Arc::new(places), watched));
            self.tried = Some(Instant::now());
        }
    }
}

/// Places that are being found.
struct Found<'a> {
    links: &'a Links,
    paths: Vec<ProtectedPath>,
}

impl Found<'_> {
    fn add(&mut self, path: &Path, part: Part, reach: Reach) {
        if path.as_os_str().is_empty() {
            return;
        }
        let place = self.links.resolve(Path::new("/"), path).unwrap_or_else(|| path.to_path_buf());
        if place != path {
            // The name itself may be a link, and is part of the way to the place.
            self.paths.push(ProtectedPath::new(path.to_path_buf(), part, Reach::Alone));
        }
        self.paths.push(ProtectedPath::new(place, part, reach));
    }

    /// The link that hooks start, the folder of the guard's own around it, and each file on the way to the program.
    fn started(&mut self, link: &Path) {
        let folder = link.ancestors().nth(2).unwrap_or(link);
        self.add(folder, Part::Program, Reach::Tree);
        let mut file = link.to_path_buf();
        for _ in 0..MAX_STARTED {
            let Some(next) = file.read_link().ok().and_then(|leads| Some(file.parent()?.join(leads))) else { break };
            self.add(&next, Part::Program, Reach::Alone);
            file = next;
        }
    }

    fn project(&mut self, sources: Sources<'_>, root: &Path) {
        self.add(&root.join(CONFIG_FOLDER), Part::Policy, Reach::Tree);
        names(sources).iter().for_each(|name| self.add(&root.join(&name.path), name.part, name.reach));
    }
}

/// A project's places of the platforms, from the folder that they are read in.
fn names(sources: Sources<'_>) -> Vec<ProtectedPath> {
    let own = |path: &&String| !path.starts_with("~/") && !path.starts_with('/');
    let skills = sources.platforms.skill_folders.iter().filter(own).map(PathBuf::from);
    let settings = sources.platforms.settings.iter().filter(own).map(String::as_str);
    let settings = settings.chain(start_files::OF_PROJECT).map(PathBuf::from);
    let mut all: Vec<_> = skills.map(|folder| ProtectedPath::new(folder, Part::Skill, Reach::Skills)).collect();
    for file in settings {
        let reach = reach_of(&file);
        all.push(ProtectedPath::new(file, Part::Settings, reach));
    }
    all
}

/// The folders of `PATH`, as they are written there; none without it. An empty one is the folder that a program runs in.
pub(crate) fn path_entries() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// The folders of `PATH` with an absolute name, without links.
pub(super) fn searched(links: &Links) -> Vec<PathBuf> {
    let absolute = path_entries().into_iter().filter(|folder| folder.is_absolute());
    absolute.map(|folder| links.resolve(Path::new("/"), &folder).unwrap_or(folder)).collect()
}

/// The program that runs, and its name in every folder that a client may find it in: its own and those of `PATH`.
fn programs() -> Vec<PathBuf> {
    let Ok(own) = std::env::current_exe() else { return Vec::new() };
    let name = format!("phasegate{}", std::env::consts::EXE_SUFFIX);
    let folders = path_entries().into_iter().filter(|folder| folder.is_absolute());
    let named = folders.chain(own.parent().map(Path::to_path_buf)).map(|folder| folder.join(&name));
    let mut programs: Vec<_> = named.collect();
    programs.push(own);
    programs.sort_unstable();
    programs.dedup();
    programs
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use phasegate_core::policy::Mode;

    use super::*;
    use crate::project::Remembered;
    use crate::protected::Protected;
    use crate::protected::protected_path::Change;

    const SKILLS: [&str; 2] = [".tool/skills", "~/.tool/skills"];
    const SETTINGS: [&str; 2] = [".tool/settings.json", ".other/"];

    /// Kept paths are searched again after any change of the places, of the folders above them, or of links in them.
    #[test]
    fn a_ground_that_is_kept_is_the_ground_as_it_is() {
        // Not where other tests make folders all the time.
        let quiet = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tmp/places");
        fs::create_dir_all(quiet).unwrap();
        let folder = tempfile::tempdir_in(quiet).unwrap();
        let top = folder.path().canonicalize().unwrap();
        let locations =
            Locations { state: top.join("s"), user: top.join("u"), machine: top.join("m"), home: top.join("h") };
        for name in ["p/.git", "p/.phasegate/skills", "p/.tool/skills/x", "p/src/new", "q/.tool", "s/projects", "out"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let (root, other) = (top.join("p"), top.join("q"));
        let cache = PlacesCache::default();
        let part = |path: &str| {
            let platforms = PlatformPlaces {
                skill_folders: SKILLS.map(str::to_owned).into(),
                settings: SETTINGS.map(str::to_owned).into(),
                ..PlatformPlaces::default()
            };
            let protected = Protected::new(&locations, &platforms, &cache, Some(&root), &[]);
            protected.part(&protected.resolve(&root, path).unwrap(), Change::Write)
        };
        let guard_other = || {
            let memory = Remembered::new(Mode::Block);
            Project::at(&locations, &other).remember(&phasegate_store::file_store::FileStore, memory).unwrap();
        };
        let changes: [(&str, Part, &dyn Fn()); 8] = [
            ("../set/z", Part::Settings, &|| symlink("../set", root.join(".other")).unwrap()),
            ("../out/a.yaml", Part::Policy, &|| symlink("../../out/a.yaml", root.join(".phasegate/a.yaml")).unwrap()),
            ("../out/b.yaml", Part::Policy, &|| {
                symlink("../../../out/b.yaml", root.join(".phasegate/skills/b.yaml")).unwrap();
            }),
            ("../out/y/SKILL.md", Part::Skill, &|| symlink("../../../out/y", root.join(".tool/skills/y")).unwrap()),
            ("src/new/settings.json", Part::Settings, &|| {
                fs::rename(root.join(".tool"), root.join("src/tool")).unwrap();
                symlink("src/new", root.join(".tool")).unwrap();
            }),
            ("../q/.tool/settings.json", Part::Settings, &guard_other),
            ("../out/h/SKILL.md", Part::Skill, &|| {
                fs::create_dir_all(top.join("h/.tool")).unwrap();
                symlink("../../out", top.join("h/.tool/skills")).unwrap();
            }),
            ("../out/m/config.yaml", Part::Policy, &|| symlink("out/m", top.join("m")).unwrap()),
        ];
        for (path, wanted, change) in changes {
            // A folder that has just changed is read each time; the folder of temporary files may be above.
            let kept = || cache.0.lock().unwrap().iter().all(|kept| kept.places.is_some());
            let all_kept = (0..1000).any(|_| {
                assert_eq!(part(path), None, "{path}");
                std::thread::sleep(Duration::from_millis(60));
                kept()
            });
            assert!(all_kept, "it is kept before {path}");
            change();
            assert_eq!(part(path), Some(wanted), "{path}");
            assert_eq!(part(path), Some(wanted), "{path}, once more");
        }
    }
}
