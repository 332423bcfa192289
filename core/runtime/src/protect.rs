//! What the guard stands on, and which paths are part of it (rules 4.1).
//!
//! A path counts as its place in the file system, and also by its name alone: names are compared as the most forgiving
//! file system would, so that case and characters nobody sees hide nothing.

mod below;
mod pattern;

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use phasegate_core::tool::Part;
use phasegate_shell::{Pattern, Piece};

use self::pattern::{anchored, heads, stands_for};
use crate::locations::Locations;
use crate::paths::Links;
use crate::project::{FOLDER, Project};

/// How far below its path a place reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The path and everything below it.
    Tree,
    /// The path alone.
    Alone,
    /// A folder of skills: itself, its entries, and the `SKILL.md` in each.
    Skills,
}

/// What a call does to a path, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It makes or changes what is there.
    Write,
    /// It takes away what is there, with everything below it.
    Remove,
}

/// All that the guard stands on, as seen from one project.
#[derive(Debug)]
pub(crate) struct Protected<'a> {
    locations: &'a Locations,
    skill_folders: &'a [&'static str],
    settings: &'a [&'static str],
    /// The places outside of projects, and those of the project, without links.
    places: Vec<Place>,
    /// Whether a folder of configs is protected wherever it lies.
    anywhere: bool,
    /// The root of the project, where there is one.
    root: Option<PathBuf>,
    /// What is known of links by now.
    links: Rc<Links>,
    /// Where links among the configs and the skills lead, once that was asked.
    targets: OnceCell<Vec<Place>>,
}

/// A place that the guard stands on, what it is, and how far it reaches.
type Place = (PathBuf, Part, Reach);

impl<'a> Protected<'a> {
    /// The guard with these folders, on these platforms' places, in the project with this root; without one, as far as it
    /// lies outside of projects or guards another.
    pub(crate) fn new(
        locations: &'a Locations,
        skill_folders: &'a [&'static str],
        settings: &'a [&'static str],
        root: Option<&Path>,
    ) -> Self {
        let mut protected = Self {
            locations,
            skill_folders,
            settings,
            places: Vec::new(),
            anywhere: root.is_some(),
            root: root.map(Path::to_path_buf),
            links: Rc::default(),
            targets: OnceCell::new(),
        };
        protected.add(&locations.state, Part::State, Reach::Tree);
        protected.add(&locations.user, Part::Policy, Reach::Tree);
        protected.add(&locations.machine, Part::Policy, Reach::Tree);
        // A skill of the user's own is no other project's.
        for folder in below_home(skill_folders).filter(|_| root.is_some()) {
            protected.add(&locations.home.join(folder), Part::Skill, Reach::Skills);
        }
        for file in settings.iter().filter(|file| file.starts_with("~/") || file.starts_with('/')) {
            let file = file.strip_prefix("~/").map_or_else(|| PathBuf::from(file), |below| locations.home.join(below));
            protected.add(&file, Part::Settings, reach_of(&file));
        }
        for program in programs() {
            protected.add(&program, Part::Program, Reach::Alone);
        }
        if let Some(root) = root {
            protected.add_project(root);
        }
        protected
    }

    /// The same, and the files that audit events are also written to.
    pub(crate) fn with_logs(mut self, logs: &[PathBuf]) -> Self {
        logs.iter().for_each(|log| self.add(log, Part::State, Reach::Alone));
        self
    }

    fn add(&mut self, path: &Path, part: Part, reach: Reach) {
        if path.as_os_str().is_empty() {
            return;
        }
        let place = self.links.resolve(Path::new("/"), path).unwrap_or_else(|| path.to_path_buf());
        if place != path {
            // The name itself may be a link, and is part of the way to the place.
            self.places.push((path.to_path_buf(), part, Reach::Alone));
        }
        self.places.push((place, part, reach));
    }

    fn add_project(&mut self, root: &Path) {
        self.add(&root.join(FOLDER), Part::Policy, Reach::Tree);
        let folders = self.skill_folders.iter().filter(|folder| !folder.starts_with("~/"));
        let files = self.settings.iter().filter(|file| !file.starts_with("~/") && !file.starts_with('/'));
        let folders: Vec<_> = folders.map(|folder| (root.join(folder), Part::Skill, Reach::Skills)).collect();
        let files: Vec<_> = files.map(|file| (root.join(file), Part::Settings, reach_of(Path::new(file)))).collect();
        for (path, part, reach) in folders.into_iter().chain(files) {
            self.add(&path, part, reach);
        }
    }

    /// The part of the guard that a change of this path would touch. The path is absolute and without links; it need not
    /// exist.
    pub(crate) fn part(&self, path: &Path, change: Change) -> Option<Part> {
        let parts = folded(path);
        let named = (self.anywhere && parts.iter().any(|part| part == FOLDER)).then_some(Part::Policy);
        let found = || self.places.iter().find(|place| touches(&parts, place, change)).map(|(_, part, _)| *part);
        let elsewhere = || self.in_another_project(path, change);
        let led_to = || self.led_to(&parts, change);
        named.or_else(found).or_else(elsewhere).or_else(led_to).or_else(|| self.linked(path))
    }

    /// Whether a link among the configs or the skills leads to the path: what lies there is read as if it lay here.
    fn led_to(&self, parts: &[String], change: Change) -> Option<Part> {
        let targets = self.targets.get_or_init(|| self.targets());
        targets.iter().find(|place| touches(parts, place, change)).map(|(_, part, _)| *part)
    }

    /// Where the links among the configs and the skills lead.
    fn targets(&self) -> Vec<Place> {
        // State is never read through links in it.
        let read = self.places.iter().filter(|(_, part, _)| *part != Part::State);
        read.flat_map(|(place, part, reach)| {
            let targets = links_in(place, *reach).into_iter().filter_map(|link| link.canonicalize().ok());
            targets.flat_map(|target| match reach {
                Reach::Skills => vec![(target.join("SKILL.md"), *part, Reach::Alone), (target, *part, Reach::Alone)],
                Reach::Tree | Reach::Alone => vec![(target, *part, Reach::Tree)],
            })
        })
        .collect()
    }

    /// Whether the path is part of what another guarded project stands on.
    fn in_another_project(&self, path: &Path, change: Change) -> Option<Part> {
        path.ancestors().skip(1).find_map(|root| {
            if self.root.as_deref() == Some(root) || !Project::at(self.locations, root).memory().exists() {
                return None;
            }
            let (places, links, targets) = (Vec::new(), Rc::clone(&self.links), OnceCell::new());
            let mut theirs = Self { places, links, targets, root: None, ..*self };
            theirs.add_project(root);
            let parts = folded(path);
            theirs.places.iter().find(|place| touches(&parts, place, change)).map(|(_, part, _)| *part)
        })
    }

    /// Whether the file is another name of a file of the guard: a hard link.
    #[cfg(unix)]
    fn linked(&self, path: &Path) -> Option<Part> {
        use std::os::unix::fs::MetadataExt as _;
        let data = path.symlink_metadata().ok().filter(|data| data.is_file() && data.nlink() > 1)?;
        let same = |file: &Path| file.metadata().is_ok_and(|it| it.ino() == data.ino() && it.dev() == data.dev());
        self.places
            .iter()
            .find(|(place, _, reach)| files(place, *reach).iter().any(|file| same(file)))
            .map(|place| place.1)
    }

    #[cfg(not(unix))]
    fn linked(&self, _: &Path) -> Option<Part> {
        None
    }

    /// Where a path leads, without links; `None` if that cannot be known.
    pub(crate) fn resolve(&self, base: &Path, written: &str) -> Option<PathBuf> {
        self.links.resolve(base, Path::new(written))
    }

    /// The user's home folder, as a text; empty where it is none.
    pub(crate) fn home(&self) -> &str {
        self.locations.home.to_str().unwrap_or_default()
    }

    /// The part that a path known only in part can stand for, seen from the folder `base`: where it can stand for the
    /// place of one, and what is known of it holds a name of that place, or is a pattern of names.
    pub(crate) fn could_mean(&self, path: &Pattern, change: Change, base: &Path) -> Option<Part> {
        let text = |piece: &Piece| if let Piece::Text(text) = piece { fold(text) } else { "/".to_string() };
        let known: String = path.0.iter().map(text).collect();
        let loose = path.0.contains(&Piece::Any);
        let anchored = anchored(path, base, self.home());
        let heads = heads(&anchored);
        let stands = |path: &Pattern, name: &str| stands_for(path, &fold(name), &fold(self.home()));
        let fits = |place: &Path, reach| {
            let names = [Some(place), place.strip_prefix(base).ok()];
            let mut names = names.into_iter().flatten().filter_map(Path::to_str);
            let below = |name: &str| reach == Reach::Tree && heads.iter().any(|head| stands(head, name));
            names.any(|name| stands(&anchored, name) || below(name))
        };
        let named = |place: &Path| {
            let last = |path: &Path| path.file_name().map(|name| fold(&name.to_string_lossy()));
            !loose || last(place).is_some_and(|name| known.contains(&name))
        };
        // A pattern of names takes away only what is there.
        let there = |place: &Path| change != Change::Remove || place.symlink_metadata().is_ok();
        self.places.iter().filter(|(place, ..)| there(place)).find_map(|(place, part, reach)| {
            let inner = inner(place, *reach);
            let above = place.ancestors().skip(1).filter(|_| change == Change::Remove);
            let found = above.into_iter().any(|place| named(place) && fits(place, Reach::Alone))
                || (named(place) && fits(place, *reach))
                || inner.iter().any(|place| named(place) && fits(place, Reach::Alone));
            found.then_some(*part)
        })
    }

    /// The part that a text speaks of which nobody can read as a command or a path: by the names of the places.
    pub(crate) fn spoken_of(&self, text: &str) -> Option<(Part, String)> {
        let text = fold(text);
        let has = |name: &str| !name.is_empty() && text.contains(&fold(name));
        if has(FOLDER) {
            return Some((Part::Policy, FOLDER.to_string()));
        }
        if has("SKILL.md")
            && let Some(folder) = self.skill_folders.iter().find(|folder| has(folder.trim_start_matches("~/")))
        {
            return Some((Part::Skill, folder.to_string()));
        }
        let written = self.settings.iter().map(|file| (file.trim_start_matches("~/"), Part::Settings));
        let places = self.places.iter().filter(|(_, _, reach)| *reach != Reach::Skills);
        let places = places.filter_map(|(place, part, _)| Some((place.to_str()?, *part)));
        written.chain(places).find(|(name, _)| has(name)).map(|(name, part)| (part, name.to_string()))
    }
}

/// The files of a place, those that exist and those that are looked for.
fn inner(place: &Path, reach: Reach) -> Vec<PathBuf> {
    let looked_for = match reach {
        Reach::Alone => &[][..],
        Reach::Tree => &["config.yaml", "config.yml", "config.json", "skills"],
        Reach::Skills => &["SKILL.md"],
    };
    let mut all = files(place, reach);
    all.extend(looked_for.iter().map(|name| place.join(name)));
    all
}

/// The files of a place that exist.
fn files(place: &Path, reach: Reach) -> Vec<PathBuf> {
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

/// The links among the files and folders of a place of configs or skills.
fn links_in(place: &Path, reach: Reach) -> Vec<PathBuf> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
    let mut all = if reach == Reach::Alone { Vec::new() } else { entries(place) };
    if reach == Reach::Tree {
        let folders = all.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let below: Vec<_> = folders.flat_map(|folder| entries(&folder.path())).collect();
        all.extend(below);
    }
    let link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    all.iter().filter(|entry| link(entry)).map(std::fs::DirEntry::path).collect()
}

/// How far a place of the platforms' reaches: a folder's name ends with a slash.
fn reach_of(place: &Path) -> Reach {
    if place.as_os_str().as_encoded_bytes().ends_with(b"/") { Reach::Tree } else { Reach::Alone }
}

fn below_home<'s>(folders: &'s [&'static str]) -> impl Iterator<Item = &'static str> + 's {
    folders.iter().filter_map(|folder| folder.strip_prefix("~/"))
}

/// The program that runs, and those that stand beside it under a name of the guard.
fn programs() -> Vec<PathBuf> {
    let Ok(own) = std::env::current_exe() else { return Vec::new() };
    let beside = |name: &str| own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let mut programs = vec![beside("phasegate"), own.clone()];
    programs.dedup();
    programs
}

/// Whether a change of the path with these parts touches the place.
fn touches(parts: &[String], (place, _, reach): &Place, change: Change) -> bool {
    let place = folded(place);
    let above = parts.len() <= place.len() && place.starts_with(parts);
    if above && (change == Change::Remove || parts.len() == place.len()) {
        return true;
    }
    let Some(below) = parts.strip_prefix(place.as_slice()) else { return false };
    match reach {
        Reach::Tree => true,
        Reach::Alone => false,
        Reach::Skills => matches!(below, [_]) || matches!(below, [_, file] if *file == fold("SKILL.md")),
    }
}

fn folded(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(part) => Some(fold(&part.to_string_lossy())),
            Component::ParentDir => Some("..".to_string()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

/// A name as the most forgiving file system compares it: without case, and without characters that some leave out.
fn fold(text: &str) -> String {
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::paths::resolve;
    use crate::project::Remembered;
    use phasegate_core::policy::Mode;
    use std::fs;

    const SKILLS: [&str; 2] = [".tool/skills", "~/.tool/skills"];
    const SETTINGS: [&str; 3] = [".tool/settings.json", "~/.tool/settings.json", "/etc/tool/managed.json"];

    struct World {
        folder: tempfile::TempDir,
        locations: Locations,
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
            Self { folder, locations }
        }

        fn top(&self) -> PathBuf {
            self.folder.path().canonicalize().unwrap()
        }

        fn part(&self, path: &str, change: Change) -> Option<Part> {
            let root = self.top().join("p");
            let protected = Protected::new(&self.locations, &SKILLS, &SETTINGS, Some(&root));
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
            .remember(Remembered { mode: Mode::Warn, sessions: false })
            .unwrap();
        assert_eq!(world.part("../other/.tool/settings.json", Change::Write), Some(Part::Settings));
        assert_eq!(world.part("../other/.tool/skills/y/SKILL.md", Change::Write), Some(Part::Skill));
        assert_eq!(world.part("../other/src/main.rs", Change::Write), None);
    }
}
