//! The protected paths (rules 4.1).
//!
//! A path counts by its place in the file system, and also by its name alone. Names are compared as the most lenient
//! file system does: without case and without invisible characters.

mod snapshot;
pub(crate) mod protected_path;
pub(crate) mod pattern;
pub(crate) mod places;
mod named_files;
mod start_files;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phasegate_core::calls::analysis::Part;
use phasegate_core::policy::Mode;

use self::named_files::NamedFiles;
use self::places::{Places, PlacesCache, Sources, path_entries, searched};
use self::protected_path::{Change, Folded, ProtectedPath, Reach, expanded, files, fold};
use crate::clients::platforms::{Client, PlatformPlaces};
use crate::locations::{CONFIG_FOLDER, Locations};
use crate::project::paths::Links;
use crate::project::repository::{folders_above, folders_read};
use crate::project::{Project, every_project};

/// The variables that name folders of the guard.
const VARIABLES: [&str; 3] = ["PHASEGATE_STATE_DIR", "PHASEGATE_CONFIG_DIR", "PHASEGATE_MACHINE_DIR"];

/// The protected paths, as seen from one project.
#[derive(Clone)]
pub(crate) struct Protected<'a> {
    sources: Sources<'a>,
    /// The places outside of projects, and those of the project, without links.
    places: Arc<Places>,
    /// The root of the project, where there is one. A folder of configs is then protected wherever it lies.
    root: Option<PathBuf>,
    /// The platform whose client's session asks, where that is known.
    client: Option<&'a str>,
    /// Whether a path that was asked about is of others than this project.
    of_others: Cell<bool>,
    /// What is known of links by now.
    links: Links,
    /// The settings that name files which clients start, where they were asked for.
    named: OnceCell<NamedFiles>,
    /// The folders of the repository above the project, where they were asked for.
    above: OnceCell<Vec<PathBuf>>,
}

impl<'a> Protected<'a> {
    /// The guard with these folders, on these platforms' places, in the project with this root, where audit events are also
    /// written to these files; without one, as far as it lies outside of projects or guards another.
    pub(crate) fn new(
        locations: &'a Locations,
        platforms: &'a PlatformPlaces,
        cache: &PlacesCache,
        root: Option<&Path>,
        logs: &[PathBuf],
    ) -> Self {
        let sources = Sources { locations, platforms };
        let links = Links::default();
        let places = cache.get(sources, root, logs, &links);
        let links = if places.looks.is_empty() { links } else { Links::knowing(Arc::clone(&places.looks)) };
        Self {
            sources,
            places,
            root: root.map(Path::to_path_buf),
            client: None,
            of_others: Cell::new(false),
            links,
            named: OnceCell::new(),
            above: OnceCell::new(),
        }
    }

    /// The places that a call's effects are looked for in, for a client that was started in this folder: not the guard's state,
    /// and nothing that a client changes itself.
    pub(crate) fn watched(&self, start: &Path) -> Vec<ProtectedPath> {
        let Locations { home, .. } = self.sources.locations;
        let own = self.sources.platforms.changed_by_clients.iter().filter_map(|written| {
            let path = match written.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => self.root.as_deref()?.join(written),
            };
            Some(self.links.resolve(Path::new("/"), &path).unwrap_or(path))
        });
        let own: Vec<PathBuf> = own.collect();
        let counts =
            |place: &&ProtectedPath| place.part != Part::State && !own.iter().any(|own| place.path.starts_with(own));
        let one = |place: &ProtectedPath| {
            if place.open { place.expanded() } else { vec![place.clone()] }
        };
        let root = self.root.as_deref();
        let read = root.map(|root| folders_read(start, root)).unwrap_or_default();
        let others = read.iter().filter(|folder| Some(folder.as_path()) != root);
        let nested: Vec<_> = others.flat_map(|folder| Places::of_project(self.sources, folder, &self.links)).collect();
        self.places.paths.iter().chain(&nested).filter(counts).flat_map(one).collect()
    }

    /// What no line may change, there or not: all but the project's own configs, settings and skills. That is the guard's own,
    /// what clients and shells read at their start, and the programs that settings start. Where links lead to one, both are
    /// named.
    pub(crate) fn kept_from_lines(&self) -> Vec<PathBuf> {
        let root = self.root.as_deref();
        let own = root.map(|root| Places::of_project(self.sources, root, &self.links)).unwrap_or_default();
        let is_own = |path: &Path| own.iter().any(|own| own.path == path);
        let counts = |place: &&ProtectedPath| place.part != Part::Skill && !place.open && !is_own(&place.path);
        let mut paths: Vec<PathBuf> = self.places.paths.iter().filter(counts).map(|place| place.path.clone()).collect();
        let read = |root| NamedFiles::read(self.sources.locations, self.sources.platforms, root);
        paths.extend(root.map(|root| self.named.get_or_init(|| read(root)).programs()).unwrap_or_default());
        paths.sort();
        paths.dedup();
        paths
    }

    /// The same, as a session of this platform's client asks.
    pub(crate) fn of_client(self, client: Option<&'a str>) -> Self {
        Self { client, ..self }
    }

    /// The part of the guard that a change of this path would touch. The path is absolute and without links; it need not
    /// exist.
    pub(crate) fn part(&self, path: &Path, change: Change) -> Option<Part> {
        let names = Folded::of(path);
        let named = (self.root.is_some() && names.has(CONFIG_FOLDER)).then_some(Part::Policy);
        let found = || self.places.paths.iter().find(|place| place.touched(&names, change)).map(|place| place.part);
        let elsewhere = || self.in_another_project(path, change);
        let led_to = || self.led_to(&names, change);
        let nested = || self.nested(&names, change);
        let started = || self.started(path, change);
        let found = || found().or_else(|| self.in_own_folder(path));
        let part = named.or_else(found).or_else(nested).or_else(elsewhere).or_else(led_to);
        let part = part.or_else(|| self.linked(path)).or_else(started);
        if part.is_some() {
            let touched = |place: &&ProtectedPath| place.touched(&names, change);
            if self.places.paths.iter().filter(touched).any(|place| self.is_of_others(place)) || elsewhere().is_some() {
                self.of_others.set(true);
            }
        }
        part
    }

    /// Whether the guard of another project depends on the place. A skill of the user's own is no other project's.
    fn is_of_others(&self, place: &ProtectedPath) -> bool {
        let own = self.root.as_deref().is_some_and(|root| place.path.starts_with(root));
        !own && place.part != Part::Skill
    }

    /// Notes that what was found is of others than this project, whatever its path.
    pub(crate) fn note_others(&self) {
        self.of_others.set(true);
    }

    /// Whether something that was found belongs to others too, and one of these is in block mode: another project, or one
    /// of which that cannot be read.
    pub(crate) fn is_of_strict_others(&self) -> bool {
        let root = self.root.as_deref();
        let strict = |project: &Project| {
            root != Some(project.root.as_path())
                && project.remembered().map_or(true, |memory| memory.is_some_and(|memory| memory.mode == Mode::Block))
        };
        self.of_others.get() && every_project(self.sources.locations).iter().any(strict)
    }

    /// Whether the path lies in a client's own folder, where only what agents keep for themselves is theirs, and the project is
    /// a person's work.
    fn in_own_folder(&self, path: &Path) -> Option<Part> {
        let (root, home) = (self.root.as_deref()?, &self.sources.locations.home);
        let platforms = self.sources.platforms;
        let own = platforms.own_folders_in(home).any(|folder| path.starts_with(&folder) && path != folder);
        let notes = platforms.agent_notes.iter().filter_map(|name| Some(home.join(name.strip_prefix("~/")?)));
        let is_below = |note: PathBuf| {
            let mut names = path.components();
            note.components().all(|part| names.next().is_some_and(|name| part.as_os_str() == "*" || name == part))
        };
        (own && !path.starts_with(root) && !notes.into_iter().any(is_below)).then_some(Part::Settings)
    }

    /// Whether a client that is started in a folder below the root, or that looks there, would read the path.
    fn nested(&self, path: &Folded, change: Change) -> Option<Part> {
        let root = self.root.as_deref()?;
        // What a client reads above the project counts, too, from the folder of the repository on.
        let above = self.above.get_or_init(|| folders_above(root));
        let tops = above.iter().filter(|folder| folder.join(".git").exists());
        let in_repository = tops.flat_map(|top| path.at_each(&Folded::of(top)));
        let all = path.below_each(&Folded::of(root)).into_iter().chain(in_repository);
        let place = |path: Folded| self.places.names.iter().find(|place| place.touched(&path, change));
        all.filter_map(place).map(|place| place.part).next()
    }

    /// Whether the project is a guarded one.
    pub(crate) fn is_guarded(&self) -> bool {
        self.root.is_some()
    }

    /// The clients of the platforms, in a guarded project.
    pub(crate) fn clients(&self) -> &'a [Client] {
        if self.root.is_some() { &self.sources.platforms.clients } else { &[] }
    }

    /// The platform whose client's session asks, where that is known.
    pub(crate) fn client(&self) -> Option<&'a str> {
        self.client
    }

    /// Whether the settings have a client start the file, or one in the folder that goes.
    fn started(&self, path: &Path, change: Change) -> Option<Part> {
        let root = self.root.as_deref()?;
        if change == Change::Write && path.is_dir() {
            return None;
        }
        let read = || NamedFiles::read(self.sources.locations, self.sources.platforms, root);
        self.named.get_or_init(read).start(path).then_some(Part::Settings)
    }

    /// Whether a link among the configs or the skills leads to the path.
    fn led_to(&self, path: &Folded, change: Change) -> Option<Part> {
        let targets = self.places.targets.get_or_init(|| self.places.targets(&self.links, &mut BTreeSet::new()));
        targets.iter().find(|place| place.touched(path, change)).map(|place| place.part)
    }

    /// Whether the path is protected by another guarded project.
    fn in_another_project(&self, path: &Path, change: Change) -> Option<Part> {
        path.ancestors().skip(1).find_map(|root| {
            let guarded = || self.links.there(&Project::at(self.sources.locations, root).memory());
            if self.root.as_deref() == Some(root) || self.places.is_bare(root) || !guarded() {
                return None;
            }
            let path = Folded::of(path);
            let theirs = Places::of_project(self.sources, root, &self.links);
            theirs.iter().find(|place| place.touched(&path, change)).map(|place| place.part)
        })
    }

    /// Whether the file is another name of a file of the guard: a hard link.
    #[cfg(unix)]
    fn linked(&self, path: &Path) -> Option<Part> {
        use std::os::unix::fs::MetadataExt as _;
        let data = path.symlink_metadata().ok().filter(|data| data.is_file() && data.nlink() > 1)?;
        let same = |file: &Path| file.metadata().is_ok_and(|it| it.ino() == data.ino() && it.dev() == data.dev());
        let paths = &mut self.places.paths.iter();
        let holds = |place: &&ProtectedPath| {
            expanded(&place.path).iter().any(|path| files(path, place.reach).iter().any(|file| same(file)))
        };
        paths.find(holds).map(|place| place.part)
    }

    #[cfg(not(unix))]
    fn linked(&self, _: &Path) -> Option<Part> {
        None
    }

    /// Where a path leads, without links; `None` if that cannot be known.
    pub(crate) fn resolve(&self, base: &Path, written: &str) -> Option<PathBuf> {
        self.links.resolve(base, Path::new(written))
    }

    /// Whether one of the folders of `PATH` fits. A relative one lies below `base`.
    pub(crate) fn any_searched(&self, base: &Path, fits: impl Fn(&Path) -> bool) -> bool {
        let absolute = self.places.searched.get_or_init(|| searched(&self.links));
        let relative = path_entries().into_iter().filter(|entry| !entry.is_absolute());
        let mut relative = relative.map(|entry| self.links.resolve(base, &entry).unwrap_or_else(|| base.join(entry)));
        absolute.iter().any(|folder| fits(folder)) || relative.any(|folder| fits(&folder))
    }

    /// The user's home folder, as a text; empty where it is none.
    pub(crate) fn home(&self) -> &str {
        self.sources.locations.home.to_str().unwrap_or_default()
    }

    /// The part that a text names, if the text is neither a command nor a path: by the names of protected paths.
    pub(crate) fn spoken_of(&self, text: &str) -> Option<(Part, String)> {
        let text = fold(text);
        // What stands in place of a `*` may be any text.
        let has = |name: &str| {
            let mut rest = text.as_str();
            let after = |piece: &str| rest.split_once(fold(piece).as_str()).map(|(_, behind)| rest = behind);
            !name.is_empty() && name.split('*').map(after).all(|found| found.is_some())
        };
        if has(CONFIG_FOLDER) {
            return Some((Part::Policy, CONFIG_FOLDER.to_string()));
        }
        if let Some(variable) =
            VARIABLES.iter().find(|variable| has(&format!("${variable}")) || has(&format!("${{{variable}")))
        {
            self.note_others();
            return Some((Part::State, format!("${variable}")));
        }
        if has("SKILL.md")
            && let Some(folder) =
                self.sources.platforms.skill_folders.iter().find(|folder| has(folder.trim_start_matches("~/")))
        {
            return Some((Part::Skill, folder.to_string()));
        }
        let written =
            self.sources.platforms.settings.iter().map(|file| (file.trim_start_matches("~/"), Part::Settings));
        let places = || self.places.paths.iter().filter(|place| place.reach != Reach::Skills);
        if places().any(|place| self.is_of_others(place) && place.path.to_str().is_some_and(has)) {
            self.note_others();
        }
        let places = places().filter_map(|place| Some((place.path.to_str()?, place.part)));
        written.chain(places).find(|(name, _)| has(name)).map(|(name, part)| (part, name.to_string()))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::project::Remembered;
    use crate::project::paths::resolve;
    use phasegate_core::policy::Mode;
    use std::fs;

    const SKILLS: [&str; 2] = [".tool/skills", "~/.tool/skills"];
    const SETTINGS: [&str; 3] = [".tool/settings.json", "~/.tool/settings.json", "/etc/tool/managed.json"];

    struct World {
        folder: tempfile::TempDir,
        locations: Locations,
        cache: PlacesCache,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let locations =
                Locations { state: top.join("s"), user: top.join("u"), machine: top.join("m"), home: top.join("h") };
            for name in ["p/.phasegate", "p/.tool/skills/x", "p/src", "h/.tool", "s", "u", "other/.phasegate"] {
                fs::create_dir_all(top.join(name)).unwrap();
            }
            Self { folder, locations, cache: PlacesCache::default() }
        }

        fn top(&self) -> PathBuf {
            self.folder.path().canonicalize().unwrap()
        }

        fn part(&self, path: &str, change: Change) -> Option<Part> {
            let root = self.top().join("p");
            let platforms = PlatformPlaces {
                skill_folders: SKILLS.map(str::to_owned).into(),
                settings: SETTINGS.map(str::to_owned).into(),
                ..PlatformPlaces::default()
            };
            let protected = Protected::new(&self.locations, &platforms, &self.cache, Some(&root), &[]);
            protected.part(&resolve(&root, Path::new(path)).unwrap(), change)
        }
    }

    #[test]
    fn what_the_guard_stands_on_is_protected_whether_it_exists_or_not() {
        let world = World::new();
        for (path, part) in [
            (".phasegate", Part::Policy),
            (".phasegate/config.yaml", Part::Policy),
            (".PhaseGate/config.yaml", Part::Policy),
            (".pha\u{17f}egate/skills/deep/SKILL.md", Part::Policy),
            (".phase\u{200b}gate/config.yaml", Part::Policy),
            ("src/../.phasegate/x", Part::Policy),
            ("src/.phasegate/config.yaml", Part::Policy),
            (".tool/settings.json", Part::Settings),
            (".TOOL/Settings.json", Part::Settings),
            (".tool/skills", Part::Skill),
            (".tool/skills/new", Part::Skill),
            (".tool/skills/x/SKILL.md", Part::Skill),
            (".tool/skills/x/skill.MD", Part::Skill),
            ("../h/.tool/settings.json", Part::Settings),
            ("../h/.tool/skills/x/SKILL.md", Part::Skill),
            ("/etc/tool/managed.json", Part::Settings),
            ("../s/projects/1/project.journal", Part::State),
            ("../u/config.yaml", Part::Policy),
            ("../m/config.yaml", Part::Policy),
        ] {
            assert_eq!(world.part(path, Change::Write), Some(part), "{path}");
        }
        for path in ["src/main.rs", ".tool", ".tool/skills/x/notes.md", "../h/.tool/other.json", "../other/x", "."] {
            assert_eq!(world.part(path, Change::Write), None, "{path}");
        }
    }

    #[test]
    fn a_folder_above_may_be_written_into_and_not_removed() {
        let world = World::new();
        for (path, part) in [(".tool", Part::Skill), (".", Part::Policy), ("..", Part::State), ("../h", Part::Skill)] {
            assert_eq!(world.part(path, Change::Write), None, "{path}");
            assert_eq!(world.part(path, Change::Remove), Some(part), "{path}");
        }
        assert_eq!(world.part("src", Change::Remove), None);
    }

    #[test]
    fn links_of_both_kinds_lead_to_the_same_place() {
        let world = World::new();
        let root = world.top().join("p");
        fs::write(root.join(".phasegate/config.yaml"), "mode: block\n").unwrap();
        fs::write(root.join(".tool/settings.json"), "{}").unwrap();
        fs::hard_link(root.join(".phasegate/config.yaml"), root.join("src/a.yaml")).unwrap();
        fs::hard_link(root.join(".tool/settings.json"), root.join("src/b.json")).unwrap();
        fs::hard_link(root.join("src/b.json"), root.join("src/c.json")).unwrap();
        std::os::unix::fs::symlink("../.phasegate", root.join("src/guard")).unwrap();
        assert_eq!(world.part("src/a.yaml", Change::Write), Some(Part::Policy));
        assert_eq!(world.part("src/c.json", Change::Write), Some(Part::Settings));
        assert_eq!(world.part("src/guard/new.yaml", Change::Write), Some(Part::Policy));
        fs::create_dir_all(world.top().join("shared/y")).unwrap();
        fs::write(world.top().join("shared/z.yaml"), "").unwrap();
        std::os::unix::fs::symlink("../../../shared/y", root.join(".tool/skills/y")).unwrap();
        std::os::unix::fs::symlink("../../shared/z.yaml", root.join(".phasegate/z.yaml")).unwrap();
        assert_eq!(world.part("../shared/y/SKILL.md", Change::Write), Some(Part::Skill));
        assert_eq!(world.part("../shared/y/notes.md", Change::Write), None);
        assert_eq!(world.part("../shared/z.yaml", Change::Write), Some(Part::Policy));
        assert_eq!(world.part("../shared", Change::Remove), Some(Part::Policy));
        assert_eq!(world.part("../shared/new", Change::Write), None);
        fs::write(root.join("src/one"), "").unwrap();
        fs::hard_link(root.join("src/one"), root.join("src/two")).unwrap();
        assert_eq!(world.part("src/two", Change::Write), None);
    }

    #[test]
    fn another_guarded_project_is_as_safe_as_this_one() {
        let world = World::new();
        assert_eq!(world.part("../other/.tool/settings.json", Change::Write), None);
        Project::at(&world.locations, &world.top().join("other"))
            .remember(&phasegate_store::file_store::FileStore, Remembered::new(Mode::Warn))
            .unwrap();
        assert_eq!(world.part("../other/.tool/settings.json", Change::Write), Some(Part::Settings));
        assert_eq!(world.part("../other/.tool/skills/y/SKILL.md", Change::Write), Some(Part::Skill));
        assert_eq!(world.part("../other/src/main.rs", Change::Write), None);
    }
}
