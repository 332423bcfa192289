//! What a team meets in its first week: settings that somebody else committed, a policy that changes, long session ids.

use std::process::Command;

use crate::support::{SKILL, World};

fn git(world: &World, args: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(world.root()).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args);
    assert!(git.env("HOME", world.home()).output().unwrap().status.success(), "{args:?}");
}

#[test]
fn undo_leaves_committed_settings_that_this_init_did_not_write() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    let settings = world.root().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    // The teammate's machine: another state folder, the settings from the repository.
    std::fs::remove_dir_all(world.state()).unwrap();
    git(&world, &["init", "-q"]);
    git(&world, &["add", ".claude/settings.json"]);
    git(&world, &["commit", "-qm", "guard"]);
    let output = world.phasegate(&["init", "--undo"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("settings.json` is committed") && said.contains("stays as it is"), "{said}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), text);
    git(&world, &["rm", "-q", "--cached", ".claude/settings.json"]);
    world.run(&["init", "--undo"], 0);
    assert!(!std::fs::read_to_string(&settings).unwrap_or_default().contains("phasegate"));
}

#[test]
fn init_renews_a_skill_file_of_its_own_with_the_config_and_no_other() {
    let world = World::guarded("block");
    let init = ["init", "claude-code", "--skill", "careful"];
    world.run(&init, 0);
    let file = world.root().join(".claude/skills/careful/SKILL.md");
    let before = std::fs::read_to_string(&file).unwrap();
    world.write(".phasegate/skills/careful.yaml", &SKILL.replace("read first", "read all of it first"));
    let told = world.run(&init, 0);
    assert!(told.contains(".claude/skills/careful/SKILL.md"), "{told}");
    let renewed = std::fs::read_to_string(&file).unwrap();
    assert!(renewed.contains("read all of it first") && !before.contains("read all of it first"));
    std::fs::write(&file, renewed.clone() + "\nMy own words.\n").unwrap();
    world.write(".phasegate/skills/careful.yaml", SKILL);
    assert!(world.run(&init, 0).contains("nothing to change"));
    std::fs::write(&file, renewed).unwrap();
    world.run(&["init", "--undo"], 0);
    assert!(!file.exists());
}

#[test]
fn the_beginning_of_a_session_id_names_the_session() {
    let world = World::guarded("block");
    for session in ["4b1d-one", "4b1d-two", "77-three"] {
        world.start(session);
    }
    assert!(world.run(&["status", "--session", "77"], 0).contains("77-three"));
    assert!(world.run(&["audit", "show", "--session", "4b1d-o"], 0).contains("4b1d-one"));
    world.run(&["start", "careful", "--session", "4b1d-t"], 0);
    world.run(&["end", "77"], 0);
    let output = world.phasegate(&["status", "--session", "4b1d"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("2 sessions begin with `4b1d`"), "{said}");
}

#[test]
fn doctor_says_in_the_root_that_a_client_in_a_subfolder_is_unguarded() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code", "--no-user"], 0);
    let says = |world: &World| {
        let output = world.phasegate(&["doctor", "--platform", "claude-code"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("started in a subfolder of the project is not guarded")
    };
    assert!(says(&world));
    world.run(&["init", "claude-code"], 0);
    assert!(!says(&world));
}

#[test]
fn init_says_that_it_changes_the_mode_of_no_config_that_is_there() {
    let world = World::guarded("warn");
    world.run(&["init", "claude-code"], 0);
    let output = world.phasegate(&["init", "claude-code", "--mode", "block"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the mode of the config is warn") && told.contains("write `mode` there"), "{told}");
    world.run(&["init", "claude-code", "--mode", "warn"], 0);
}

#[test]
fn check_tells_of_agents_that_nobody_has_and_of_paths_from_the_root_of_the_system() {
    let world = World::unguarded();
    world.write(".claude/agents/reviewer.md", "---\nname: reviewer\n---\n");
    let root = world.root().canonicalize().unwrap().display().to_string();
    world.write(
        ".phasegate/skills/own.yaml",
        &format!(
            "skill: own\nforbidden:\n  - {{tool: Edit, agent: reviewr}}\n  - {{tool: Write, agent: reviewer}}\n  - {{tool: \
             Bash, agent: general-purpose}}\n  - {{writes: \"{root}/src/**\"}}\nphases:\n  only: {{allowed: [Read]}}\n"
        ),
    );
    let text = world.run(&["check"], 0);
    assert!(text.contains("subagent of the type `reviewr`, so this forbids nothing"), "{text}");
    assert!(text.contains("did you mean `reviewer`?") && text.contains("did you mean `src/**`?"), "{text}");
    assert!(text.contains("0 errors, 2 warnings"), "{text}");
}
