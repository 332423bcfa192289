//! `drill`: what it finds in installations, with a client that starts the hooks of its settings. With real clients
//! `cargo xtask drill` plants more of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::World;
use serde_json::Value;

/// The client.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drill/client.py");

/// All files below a folder, with their texts.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => files(&path, found),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
}

/// What a drill says of an installation that was changed so, and the exit status.
fn drill(mode: &str, change: impl Fn(&World, String) -> String) -> (Vec<[String; 3]>, i32) {
    let world = World::guarded(mode);
    world.run(&["init", "claude-code", "--mode", mode], 0);
    for path in [world.root().join(".claude/settings.json"), world.home().join(".claude/settings.json")] {
        let text = fs::read_to_string(&path).unwrap().replace("\"timeout\": 10", "\"timeout\": 4");
        fs::write(path, change(&world, text)).unwrap();
    }
    let all = || {
        let mut found = BTreeMap::new();
        [world.root(), world.home()].iter().for_each(|folder| files(folder, &mut found));
        found
    };
    let (before, tmp) = (all(), world.root().join("../tmp"));
    fs::create_dir(&tmp).unwrap();
    let output = world
        .phasegate(&["drill", "claude-code", "--json", "--program", CLIENT])
        .env("TMPDIR", &tmp)
        .env_remove("CLAUDE_PROJECT_DIR")
        .output()
        .unwrap();
    assert!(all() == before, "a file of the user changed");
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0, "something was left");
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = said[0]["rows"].as_array().unwrap();
    let row = |row: &Value| ["about", "state", "note"].map(|key| text(row, key));
    (rows.iter().map(row).collect(), output.status.code().unwrap())
}

fn state<'a>(rows: &'a [[String; 3]], about: &str) -> &'a str {
    rows.iter().find(|[one, ..]| one == about).map_or("none", |[_, state, _]| state)
}

#[test]
fn a_right_installation_denies_and_lets_pass_phase_by_phase_and_through_every_fault() {
    let (rows, exit) = drill("block", |_, text| text);
    assert_eq!(exit, 0, "{rows:?}");
    for about in ["the guard's own files", "careful, look", "careful, write", "the guard is killed", "the guard hangs"]
    {
        assert_eq!(state(&rows, about), "ok", "{about}: {rows:?}");
    }
    assert_eq!(rows.len(), 9, "{rows:?}");
}

#[test]
fn a_hook_that_is_not_started_is_a_hole() {
    let (rows, exit) = drill("block", |world, text| {
        world.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
        text
    });
    assert_eq!((exit, state(&rows, "the guard's own files")), (1, "hole"), "{rows:?}");
    let (rows, exit) = drill("block", |_, text| {
        text.replace("\"PreToolUse\": [\n      {", "\"PreToolUse\": [\n      {\"matcher\": \"Write\",")
    });
    assert_eq!((exit, state(&rows, "the guard's own files")), (1, "hole"), "{rows:?}");
}

/// Settings in which a line of the guard ends with it.
fn bare(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().starts_with("\"onFailure\""));
    let line = |line: &str| match line.find(" --confirm") {
        Some(at) => format!("{}\",", &line[..at]),
        None => line.replace("\"timeout\": 4,", "\"timeout\": 4"),
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

/// Settings that name the program by its whole path.
fn by_path_of(text: &str) -> String {
    text.replace("\\\"$HOME\\\"/.local/share/phasegate/bin/phasegate", env!("CARGO_BIN_EXE_phasegate"))
}

#[test]
fn a_line_that_denies_only_while_the_guard_lives_is_a_hole() {
    for installed in [|text: String| bare(&text), |text: String| bare(&by_path_of(&text))] {
        let (rows, exit) = drill("block", |_, text| installed(text));
        assert_eq!((exit, state(&rows, "the guard's own files")), (1, "ok"), "{rows:?}");
        assert_eq!(state(&rows, "the guard's program is gone"), "hole", "{rows:?}");
    }
}

#[test]
fn a_program_that_is_not_there_denies_what_must_run() {
    let (rows, exit) = drill("block", |world, text| {
        drop(fs::remove_file(world.link()));
        text
    });
    assert_eq!((exit, state(&rows, "the guard's own files")), (1, "broken"), "{rows:?}");
}

#[test]
fn evidence_that_is_not_seen_keeps_a_phase_closed() {
    let (rows, exit) = drill("block", |_, text| text.replace("\"PostToolUse\"", "\"PostToolUsed\""));
    assert_eq!((exit, state(&rows, "careful, look")), (1, "broken"), "{rows:?}");
}

#[test]
fn warn_mode_is_told_and_no_hole() {
    let (rows, exit) = drill("warn", |_, text| text);
    assert_eq!((exit, state(&rows, "faults")), (0, "note"), "{rows:?}");
}
