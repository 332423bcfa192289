//! `init`: what it writes, that it writes nothing twice, and that it can take all of it back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{World, denied};
use serde_json::{Value, json};

const SETTINGS: &str = "{\n  \"permissions\": { \"allow\": [\"Read\"] },\n  \"hooks\": {\"Stop\": []}\n}\n";

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, String::new());
        } else {
            found.insert(path.clone(), fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn init_keeps_what_is_there_writes_nothing_twice_and_can_be_undone() {
    let world = World::unguarded();
    world.write(".claude/settings.json", SETTINGS);
    let before = files(&world.root());

    let dry = world.run(&["init", "--skill", "lsp-refactor", "--mode", "block", "--dry-run"], 0);
    assert!(dry.contains("+mode: block") && dry.contains("hook claude-code"), "{dry}");
    assert_eq!(files(&world.root()), before, "--dry-run writes nothing");

    world.run(&["init", "--skill", "lsp-refactor", "--mode", "block"], 0);
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(world.root().join(".claude/settings.json")).unwrap()).unwrap();
    assert_eq!(settings["permissions"], json!({"allow": ["Read"]}));
    assert!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().contains("hook claude-code"));
    let once = files(&world.root());
    assert!(world.run(&["init", "--skill", "lsp-refactor"], 0).contains("nothing to change"));
    assert_eq!(files(&world.root()), once);

    world.run(&["init", "--skill", "lsp-rename"], 0);
    let config = fs::read_to_string(world.root().join(".phasegate/config.yaml")).unwrap();
    assert!(config.contains("mode: block") && config.contains("- lsp-refactor\n  - lsp-rename"), "{config}");
    world.run(&["check"], 0);

    world.run(&["init", "--undo"], 0);
    assert_eq!(files(&world.root()), before, "every file is as it was");
    assert!(world.run(&["init", "--undo"], 0).contains("nothing to undo"));
}

#[test]
fn undo_leaves_a_file_that_was_changed_since_and_takes_only_its_own_part_out_of_settings() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "lsp-refactor"], 0);
    let path = world.root().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    settings["model"] = json!("m");
    fs::write(&path, settings.to_string()).unwrap();
    world.write(".phasegate/config.yaml", "mode: warn\n");
    world.run(&["init", "claude-code", "--undo"], 1);
    let after: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(after["model"], "m");
    assert!(!after.to_string().contains("phasegate"), "{after}");
    assert_eq!(fs::read_to_string(world.root().join(".phasegate/config.yaml")).unwrap(), "mode: warn\n");
}

#[test]
fn a_skill_that_is_not_shipped_changes_nothing() {
    let world = World::unguarded();
    let output = world.phasegate(&["init", "claude-code", "--skill", "lsp-refactr"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `lsp-refactor`?"));
    assert!(files(&world.root()).is_empty());
}

#[test]
fn settings_that_cannot_be_understood_are_not_overwritten() {
    let world = World::unguarded();
    world.write(".claude/settings.json", "{ \"hooks\": ");
    let before = files(&world.root());
    assert_eq!(world.phasegate(&["init"]).output().unwrap().status.code(), Some(2));
    assert_eq!(files(&world.root()), before);
}

#[test]
fn the_users_settings_guard_every_project() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--user", "--skill", "lsp-refactor", "--mode", "block"], 0);
    assert!(files(&world.root()).is_empty());
    assert!(world.home().join(".claude/settings.json").exists());
    world.call("s", "t0", "Skill", json!({"skill": "lsp-refactor"}));
    denied(&world.call("s", "t1", "Edit", json!({"file_path": "a"})), "not-done");
    denied(&world.hook("nonsense"), "bad-input");
    world.run(&["init", "claude-code", "--user", "--undo"], 0);
    assert!(files(&world.home()).values().all(String::is_empty), "no file is left");
}

#[test]
fn the_command_is_a_bare_name_only_where_path_leads_to_this_program() {
    let world = World::unguarded();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_phasegate"));
    let command = |path: &str| {
        let output = world.phasegate(&["init", "claude-code", "--dry-run"]).env("PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(command(program.parent().unwrap().to_str().unwrap()).contains("\"phasegate hook claude-code"));
    assert!(command("/usr/bin").contains(&format!("{} hook claude-code", program.display())));
}
