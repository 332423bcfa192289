//! `init --local`: the hooks are in the settings that one person keeps in the project, and every command knows them there.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::World;

const SHARED: &str = ".claude/settings.json";
const LOCAL: &str = ".claude/settings.local.json";
const OWN: &str = "{\n  \"model\": \"m\"\n}\n";

#[test]
fn the_hooks_go_into_local_settings_and_mode_doctor_and_undo_find_them_there() {
    let world = World::guarded("warn");
    world.write(LOCAL, OWN);
    let there = |name: &str| world.root().join(name).exists();
    let init = ["init", "claude-code", "--local"];
    let dry = world.run(&[&init[..], &["--dry-run"]].concat(), 0);
    assert!(dry.contains("changed .claude/settings.local.json") && !dry.contains("new .claude/settings.json"), "{dry}");
    assert!(!there(SHARED));
    world.run(&init, 0);
    assert!(!there(SHARED) && !there(".claude/commands/phasegate.md") && world.home().join(SHARED).exists());
    let local = || serde_json::from_str::<Value>(&fs::read_to_string(world.root().join(LOCAL)).unwrap()).unwrap();
    assert!(local()["model"] == "m" && local()["hooks"]["PreToolUse"].is_array());
    assert!(world.run(&init, 0).contains("nothing to change"));
    let printed = world.run(&[&init[..], &["--print"]].concat(), 0);
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), local());

    let doctor = world.phasegate(&["doctor", "--platform", "claude-code"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("settings.local.json") && doctor.contains("which is this program"), "{doctor}");
    assert!(!doctor.contains("problem "), "{doctor}");

    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.run(&["mode", "block", "careful"], 0);
    assert_eq!(local()["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"], "block");
    assert!(!there(SHARED));

    world.run(&["end", "s"], 0);
    world.run(&["init", "--undo"], 0);
    assert_eq!(fs::read_to_string(world.root().join(LOCAL)).unwrap(), OWN);
    assert!(!world.home().join(SHARED).exists());
}

#[test]
fn a_person_is_told_where_others_would_get_the_local_settings() {
    let world = World::unguarded();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(world.root()).args(args).env("HOME", world.home());
        assert!(git.output().unwrap().status.success(), "{args:?}");
    };
    let said = || {
        let output = world.phasegate(&["init", "claude-code", "--local", "--dry-run"]).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(said(), "");
    git(&["init", "-q"]);
    assert!(said().contains("git does not ignore `.claude/settings.local.json`"), "{}", said());
    world.write(".git/info/exclude", ".claude/settings.local.json\n");
    assert_eq!(said(), "");
    world.write(LOCAL, "{}\n");
    git(&["add", "-f", LOCAL]);
    assert!(said().contains("is committed, so others get these hooks"), "{}", said());
}

#[test]
fn a_platform_without_local_settings_says_so() {
    let world = World::unguarded();
    let output = world.phasegate(&["init", "opencode", "--local"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("OpenCode has no settings of the project that one"),
        "{said}"
    );
}
