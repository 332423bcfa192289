//! What is watched in a session: the files that skills name, and those that the guard and the clients depend on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::copies::Copies;
use super::look::Ground;
use super::manifest::{Folder, Manifest, Rule};
use crate::protected::protected_path::{ProtectedPath, Reach};

/// What is watched, between a look and the record of the event.
pub(crate) struct Watching {
    pub(crate) manifest: Manifest,
    pub(crate) copies: Copies,
}

/// The manifest of these patterns and places, as everything is now. What `earlier` knows and still fits is taken from it,
/// and what it says of files that calls changed although they might not stays.
pub(crate) fn begin(
    globs: Vec<String>,
    places: Vec<ProtectedPath>,
    earlier: Option<&Manifest>,
    ground: &Ground<'_>,
    copies: &mut Copies,
) -> Manifest {
    let open = ground.open;
    let mut manifest = Manifest { globs, began: ground.now, dirty: true, ..Manifest::default() };
    manifest.background = earlier.and_then(|earlier| earlier.background.clone());
    // What the repository ignores is believed as it was when the session's watch began.
    manifest.began = earlier.map_or(ground.now, |earlier| earlier.began);
    if !manifest.globs.is_empty() {
        manifest.folders.push(Folder::new(ground.root.to_path_buf(), Rule::Globs));
    }
    manifest.folders.push(Folder::new(ground.root.to_path_buf(), Rule::Starts));
    let mut named: BTreeMap<PathBuf, Folder> = BTreeMap::new();
    for ProtectedPath { path, part, reach, .. } in places {
        match reach {
            Reach::Tree => manifest.folders.push(Folder::new(path, Rule::Tree(part))),
            Reach::Skills => manifest.folders.push(Folder::new(path, Rule::Skills)),
            Reach::Alone => {
                let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
                else {
                    continue;
                };
                let rule = Rule::Named(part);
                let key = folder.join(format!("{part:?}"));
                named.entry(key).or_insert_with(|| Folder::new(folder.to_path_buf(), rule)).add(name);
            }
        }
    }
    manifest.folders.extend(named.into_values());
    let known = |seen_path: &PathBuf| earlier.and_then(|earlier| earlier.file(seen_path)).map(|(_, file)| file);
    for seen in manifest.look(ground) {
        match known(&seen.path).filter(|file| file.digest == seen.after || open.contains(&seen.path)) {
            Some(file) => manifest.put(&seen, file),
            // It was made by a call that might not, and is not to be taken for what should be there.
            // Another session's call did: what was there before is not known here.
            None if open.contains(&seen.path) && earlier.is_none() => manifest.leave_open(&seen),
            None if open.contains(&seen.path) => {}
            None => manifest.settle(&seen, copies),
        }
    }
    // What such a call removed is found in no folder.
    for path in open.iter().filter(|path| manifest.file(path).is_none()).collect::<Vec<_>>() {
        let Some((folder, file)) = earlier.and_then(|earlier| earlier.file(path)) else { continue };
        let at = manifest.folders.iter_mut().find(|one| one.path == folder.path && one.rule == folder.rule);
        match at {
            Some(at) => at.files.push(file.clone()),
            None => manifest
                .folders
                .push(Folder { files: vec![file.clone()], ..Folder::new(folder.path.clone(), folder.rule) }),
        }
    }
    manifest
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::effects::look::Seen;
    use crate::effects::stamp::nanos;

    struct World {
        folder: tempfile::TempDir,
        files: [String; 2],
    }

    impl World {
        fn new() -> Self {
            let world = Self {
                folder: tempfile::tempdir().unwrap(),
                files: [".tool/settings.json", "tool.json"].map(str::to_owned),
            };
            for (path, text) in
                [("src/a.py", "a"), ("src/deep/b.py", "b"), ("doc/c.md", "c"), (".gitignore", "made/\n")]
            {
                world.write(path, text);
            }
            world
        }

        fn root(&self) -> &Path {
            self.folder.path()
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn copies(&self) -> Copies {
            Copies::new(self.root().join("copies"))
        }

        fn ground<'g>(&'g self, open: &'g [PathBuf]) -> Ground<'g> {
            Ground {
                root: self.root(),
                client_keys: &[],
                client_files: &self.files,
                now: nanos(SystemTime::now()),
                open,
            }
        }

        fn begin(&self, globs: &[&str]) -> Manifest {
            let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
            begin(globs, Vec::new(), None, &self.ground(&[]), &mut self.copies())
        }

        fn seen(&self, manifest: &mut Manifest) -> Vec<String> {
            let name = |seen: &Seen| seen.path.strip_prefix(self.root()).unwrap().display().to_string();
            let mut seen: Vec<_> = manifest.look(&self.ground(&[])).iter().map(name).collect();
            seen.sort();
            seen
        }
    }

    #[test]
    fn what_is_made_changed_moved_or_removed_is_seen_and_nothing_else() {
        let world = World::new();
        let mut manifest = world.begin(&["src/**"]);
        assert_eq!((manifest.files(), world.seen(&mut manifest)), (2, Vec::new()));
        world.write("doc/c.md", "other");
        world.write("src/a.py", "a");
        world.write("src/made/x.py", "x");
        assert_eq!(world.seen(&mut manifest), Vec::<String>::new(), "another file, the same content, an ignored one");
        world.write("src/a.py", "b");
        world.write("src/new/n.py", "n");
        fs::rename(world.root().join("src/deep/b.py"), world.root().join("src/deep/d.py")).unwrap();
        assert_eq!(world.seen(&mut manifest), ["src/a.py", "src/deep/b.py", "src/deep/d.py", "src/new/n.py"]);
        let seen = manifest.look(&world.ground(&[]));
        assert_eq!(seen.len(), 4, "it is seen until it is settled");
        seen.iter().for_each(|one| manifest.settle(one, &mut world.copies()));
        assert_eq!(world.seen(&mut manifest), Vec::<String>::new());
    }

    #[test]
    fn what_a_client_obeys_in_a_folder_below_is_seen() {
        let world = World::new();
        world.write("doc/tool.json", "{}");
        let mut manifest = world.begin(&[]);
        assert_eq!(world.seen(&mut manifest), Vec::<String>::new());
        for path in ["src/deep/.tool/settings.json", "new/tool.json", "src/.tool/other.json", "src/made/tool.json"] {
            world.write(path, "{}");
        }
        world.write("doc/tool.json", "{\"a\": 1}");
        assert_eq!(world.seen(&mut manifest), ["doc/tool.json", "new/tool.json", "src/deep/.tool/settings.json"]);
    }

    #[test]
    fn the_same_size_and_times_hide_nothing() {
        let world = World::new();
        let mut manifest = world.begin(&["src/*.py"]);
        let path = world.root().join("src/a.py");
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(world.seen(&mut manifest), Vec::<String>::new());
        let before = path.metadata().unwrap().modified().unwrap();
        fs::write(&path, "z").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert_eq!(world.seen(&mut manifest), ["src/a.py"]);
    }

    #[test]
    fn another_manifest_keeps_what_is_not_as_it_was() {
        let world = World::new();
        let first = world.begin(&["src/**"]);
        world.write("src/a.py", "changed");
        fs::remove_file(world.root().join("src/deep/b.py")).unwrap();
        world.write("src/new.py", "new");
        let open: Vec<PathBuf> = ["src/a.py", "src/deep/b.py", "src/new.py"].map(|path| world.root().join(path)).into();
        let globs = vec!["**/*.py".to_owned()];
        let mut second = begin(globs, Vec::new(), Some(&first), &world.ground(&open), &mut world.copies());
        assert_eq!(world.seen(&mut second), ["src/a.py", "src/deep/b.py", "src/new.py"]);
        let (_, kept) = second.file(&open[0]).unwrap();
        assert_eq!(kept.digest, first.file(&open[0]).unwrap().1.digest);
    }

    #[test]
    fn a_watch_is_bounded() {
        let world = World::new();
        for number in 0..crate::effects::MAX_FILES + 5 {
            world.write(&format!("many/{number}.py"), "");
        }
        let manifest = world.begin(&["**/*.py"]);
        assert!(manifest.capped && manifest.files() <= crate::effects::MAX_FILES, "{}", manifest.files());
        assert!(!world.begin(&["src/**"]).capped);
    }
}
