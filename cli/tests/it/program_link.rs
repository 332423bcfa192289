//! The place at which hooks start the program: a link that `init` makes, and nothing that `PATH` finds.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::World;

/// The command of a hook in the project's settings.
fn line(folder: &Path, event: &str) -> String {
    let text = fs::read_to_string(folder.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_string()
}

#[test]
fn hooks_name_one_place_below_the_home_folder_whatever_is_on_path() {
    let world = World::unguarded();
    let other = world.home().join("bin/phasegate");
    fs::create_dir(other.parent().unwrap()).unwrap();
    fs::write(&other, "").unwrap();
    let own = world.search_path().display().to_string();
    for path in [own.clone(), "/usr/bin".to_owned(), format!("{}:{own}", other.parent().unwrap().display())] {
        let args = ["init", "claude-code", "--dry-run", "--verbose"];
        let output = world.phasegate(&args).env("PATH", &path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = r#""\"$HOME\"/.local/share/phasegate/bin/phasegate hook claude-code --confirm;"#;
        assert!(output.status.success() && text.contains(line), "{path}: {text}");
        assert!(text.contains("/.local/share/phasegate/bin/phasegate -> /"), "{path}: {text}");
    }
    assert!(fs::read_dir(world.root()).unwrap().next().is_none() && !world.link().exists());
}

#[test]
fn lists_of_servers_name_the_program_so_path_must_lead_to_it() {
    let world = World::unguarded();
    world.write(".mcp.json", r#"{"mcpServers": {"s": {"command": "node"}}}"#);
    let own = world.search_path().display().to_string();
    for (path, status, says) in
        [(own.as_str(), 0, "\"phasegate\""), ("/usr/bin", 2, "no folder of `PATH` has `phasegate`")]
    {
        let output = world.phasegate(&["init", "mcp", "--dry-run", "--verbose"]).env("PATH", path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(status) && text.contains(says), "{path}: {text}");
    }
    assert!(!world.link().exists());
}

/// A program of the guard's name that comes first on `PATH`, and what hooks start in its place.
#[cfg(unix)]
#[test]
fn a_program_of_the_same_name_on_path_is_not_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    assert_eq!(
        world.link().canonicalize().unwrap(),
        Path::new(env!("CARGO_BIN_EXE_phasegate")).canonicalize().unwrap()
    );
    let fake = world.home().join("bin/phasegate");
    fs::create_dir(fake.parent().unwrap()).unwrap();
    fs::write(&fake, format!("#!/bin/sh\ntouch '{}/started'\nexit 10\n", world.home().display())).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = |input: Value| {
        let frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": input, "tool_use_id": "t", "transcript_path": "/t", "permission_mode": "default"});
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &line(&world.root(), "PreToolUse")]).current_dir(world.root()).env_clear();
        shell.envs(world.variables());
        shell.env("PATH", format!("{}:{}", fake.parent().unwrap().display(), world.search_path().display()));
        assert_cmd::Command::from(shell).write_stdin(frame.to_string()).output().unwrap().status.code()
    };
    assert_eq!(hook(json!({"file_path": "a.md", "content": "x"})), Some(0));
    assert_eq!(hook(json!({"file_path": world.link(), "content": "x"})), Some(2));
    assert_eq!(hook(json!({"file_path": ".phasegate/config.yaml", "content": "x"})), Some(2));
    assert!(!world.home().join("started").exists());
    fs::remove_file(world.link()).unwrap();
    assert_eq!(hook(json!({"file_path": "a.md", "content": "x"})), Some(2), "without the link all is denied");
    assert!(!world.home().join("started").exists());
}

#[test]
fn the_link_stays_until_the_last_project_is_undone() {
    let world = World::unguarded();
    let other = world.home().join("other");
    fs::create_dir(&other).unwrap();
    let there = ["--project", other.to_str().unwrap()];
    world.run(&["init", "claude-code"], 0);
    world.run(&[&there[..], &["init", "claude-code", "--no-user"]].concat(), 0);
    world.run(&["init", "--undo"], 0);
    assert!(world.link().exists());
    let undone = world.run(&[&there[..], &["init", "--undo"]].concat(), 0);
    assert!(undone.contains("removed ") && undone.contains("/bin/phasegate"), "{undone}");
    assert!(!world.home().join(".local").exists());
    // A teammate has the settings already, and nothing that they start.
    world.run(&["init", "claude-code", "--no-user"], 0);
    fs::remove_file(world.link()).unwrap();
    let again = world.run(&["init", "claude-code", "--no-user"], 0);
    assert!(again.contains("new ") && again.contains("bin/phasegate -> "), "{again}");
    assert!(world.link().exists() && world.run(&["init", "claude-code", "--no-user"], 0).contains("nothing to change"));
    // What is committed stays, and still starts the link.
    for args in [&["init", "--quiet"][..], &["add", "."]] {
        let git = std::process::Command::new("git").args(args).current_dir(world.root()).status().unwrap();
        assert!(git.success(), "{args:?}");
    }
    fs::remove_dir_all(world.state()).unwrap();
    world.run(&["init", "claude-code", "--no-user"], 0);
    world.run(&["init", "--undo"], 0);
    assert!(world.root().join(".claude/settings.json").exists() && world.link().exists());
}

#[test]
fn a_hook_that_names_the_program_as_before_is_told_and_renewed() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--no-user"], 0);
    let path = world.root().join(".claude/settings.json");
    let new = fs::read_to_string(&path).unwrap();
    let old = new.replace(r#"\"$HOME\"/.local/share/phasegate/bin/phasegate hook"#, "phasegate hook");
    assert_ne!(old, new);
    fs::write(&path, &old).unwrap();
    let said = String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap();
    assert!(said.contains("by its name") && said.contains("phasegate init claude-code"), "{said}");
    world.run(&["init", "claude-code", "--no-user"], 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), new);
    let said = String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap();
    assert!(!said.contains("by its name") && said.contains("which is this program"), "{said}");
    fs::write(&path, old).unwrap();
    world.run(&["init", "claude-code", "--undo"], 0);
    assert!(!path.exists() || !fs::read_to_string(&path).unwrap().contains("phasegate"));
}
