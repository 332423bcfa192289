//! The `SKILL.md` files that `init` writes, as data: a folder each in `tests/skill_files/`, with skills and the files that
//! they get.
//!
//! `PHASEGATE_BLESS=1` writes what the program writes into the folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::World;

/// The files of a folder, by their paths inside.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn golden_init_writes_what_each_folder_has() {
    let bless = std::env::var_os("PHASEGATE_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skill_files");
    let mut number = 0;
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let world = World::unguarded();
        world.write(".phasegate/config.yaml", "mode: block\n");
        let skills = files(&entry.join("skills"));
        for (name, text) in &skills {
            world.write(&format!(".phasegate/skills/{name}"), text);
        }
        let asked = fs::read_to_string(entry.join("asked")).unwrap();
        let names = asked.split_whitespace().flat_map(|name| ["--skill", name]);
        let args: Vec<&str> = ["init", "claude-code"].into_iter().chain(names).collect();
        let printed = world.run(&args, 0);
        let next = printed.lines().find(|line| line.contains("next:")).unwrap_or_default();
        let mut written = files(&world.root().join(".claude/skills"));
        written.insert("next".to_string(), format!("{}\n", next.trim()));
        let expected = entry.join("written");
        if bless {
            let _ = fs::remove_dir_all(&expected);
            for (name, text) in &written {
                let path = expected.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        assert_eq!(written, files(&expected), "{}", entry.display());
        let doctor = String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap();
        assert!(!doctor.contains("cannot start the skill") && !doctor.contains("asks in its phase"), "{doctor}");
        number += 1;
    }
    assert!(number > 2);
}
