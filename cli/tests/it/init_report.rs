//! What `init` prints: what matters first, one file at a time, and no path of this machine for settings that others share.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

#[test]
fn what_was_done_and_what_comes_next_are_the_first_lines() {
    let world = World::unguarded();
    let init = ["init", "claude-code", "--skill", "test-first", "--mode", "block"];
    let dry = world.run(&[&init[..], &["--dry-run"]].concat(), 0);
    let told = world.run(&init, 0);
    for (text, first) in [(&dry, "phasegate would guard this project"), (&told, "phasegate guards this project")] {
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.len() < 12, "{text}");
        assert_eq!(lines[0], format!("{first} in block mode, on Claude Code"));
        assert!(lines[1].contains("next: start the client anew") && lines[1].contains("`/test-first`"), "{text}");
        assert!(lines[2].contains("`phasegate init --undo`"), "{text}");
        assert!(text.contains("new .claude/settings.json (172 lines)"), "{text}");
    }
    let other = World::unguarded();
    let told = other.run(&["init", "claude-code"], 0);
    assert!(told.contains("no skill applies yet: `phasegate init --skill test-first`"), "{told}");
}

#[test]
fn one_file_at_a_time_is_printed_whether_it_is_there_or_not() {
    let world = World::unguarded();
    let settings = || {
        let text = world.run(&["init", "claude-code", "--print=settings.json"], 0);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let before = settings();
    assert!(before["hooks"]["PreToolUse"].is_array(), "{before}");
    let listed = world.run(&["init", "claude-code", "--print"], 0);
    assert_eq!(listed, ".claude/commands/phasegate.md\n.claude/settings.json\n");
    assert_eq!(fs::read_dir(world.root()).unwrap().count(), 0, "nothing is written");
    world.run(&["init", "claude-code"], 0);
    assert_eq!(settings(), before, "an installation is printed, too");
    assert_eq!(world.run(&["init", "claude-code", "--print"], 0), listed);
    let all: Value = serde_json::from_str(&world.run(&["init", "claude-code", "--print", "--json"], 0)).unwrap();
    assert_eq!(all["files"].as_object().unwrap().len(), 2);
    let output = world.phasegate(&["init", "claude-code", "--print=none.json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("name one of: .claude/commands"), "{said}");
}

#[test]
fn a_new_mode_puts_no_path_of_this_machine_into_settings() {
    let world = World::guarded("warn");
    world.run(&["init", "claude-code"], 0);
    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    let file = world.root().join(".claude/settings.json");
    fs::remove_file(world.link()).unwrap();
    let output = world.phasegate(&["mode", "block", "careful"]).env("PATH", "/usr/bin").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("onFailure") && !text.contains(world.home().to_str().unwrap()), "{text}");
    assert!(world.link().exists(), "what the lines start is there again");
}

#[test]
fn of_many_lines_that_begin_a_skill_the_first_are_shown() {
    let world = World::unguarded();
    let skills = world.root().join(".phasegate/skills");
    fs::create_dir_all(&skills).unwrap();
    let start = ["a", "b", "c", "d"].map(|name| format!("{{before: {{writes: {name}}}}}")).join(", ");
    fs::write(
        skills.join("many.yaml"),
        format!("skill: many\nstart: [{start}]\nphases: {{one: {{allowed: [Edit]}}}}\n"),
    )
    .unwrap();
    let printed = world.run(&["init", "claude-code"], 0);
    assert_eq!(printed.matches("before the first call of").count(), 1, "{printed}");
    assert!(printed.contains("2 more lines of its `start` (`phasegate skill show many`)"), "{printed}");
}
