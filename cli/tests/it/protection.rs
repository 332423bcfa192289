//! Protected paths cannot be changed through a tool that the guard sees: shell commands and calls as data, through the
//! hook.

use std::fs;

use serde_json::{Value, json};

use crate::outer::{call_in, frame_in};
use crate::support::{Reply, World, denied, reply};

fn world() -> World {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    for (path, text) in [("notes.md", "x\n"), ("src/a.rs", "\n"), (".phasegate/config.yaml", "mode: block\n")] {
        world.write(path, text);
    }
    for path in ["src/.claude/settings.json", "src/.claude/other.json"] {
        world.write(path, "{}");
    }
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world
}

fn cases(name: &str, list: &str) -> Vec<Value> {
    let path = format!("{}/tests/protection/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    all[list].as_array().unwrap().clone()
}

/// Those of the calls that were answered otherwise than they should be.
fn wrong(calls: impl IntoIterator<Item = (String, Value)>, should_be_denied: bool) -> Vec<String> {
    let world = world();
    let answered = calls.into_iter().enumerate().map(|(at, (tool, input))| {
        let answer = world.call("s", &format!("t{at}"), &tool, input.clone());
        let protected = matches!(reply(&answer), Reply::Denied(text) if text.contains("self-protection"));
        (protected == should_be_denied).then_some(()).ok_or_else(|| format!("{tool} {input}: {answer:?}"))
    });
    answered.filter_map(Result::err).collect()
}

fn lines(list: &str) -> impl Iterator<Item = (String, Value)> {
    cases("shell-lines", list).into_iter().map(|line| ("Bash".to_string(), json!({ "command": line })))
}

fn calls(list: &str) -> impl Iterator<Item = (String, Value)> {
    cases("calls", list).into_iter().map(|call| (call["tool"].as_str().unwrap().to_string(), call["input"].clone()))
}

#[test]
fn what_settings_name_as_a_marketplace_is_protected() {
    let world = world();
    let market = world.home().join("market");
    let named = |path: std::path::PathBuf| json!({"source": {"source": "directory", "path": path}});
    let settings = json!({"extraKnownMarketplaces": {"m": named(market.clone()), "own": named(world.root())}});
    world.write(".claude/settings.local.json", &settings.to_string());
    let write = |path: std::path::PathBuf| world.call("s", "t", "Write", json!({"file_path": path, "content": "x"}));
    denied(&write(market.join("tidy/src/mod.mjs")), "self-protection");
    denied(&write(world.root().join("plugins/tidy/hooks/mod.mjs")), "self-protection");
    assert_eq!(reply(&write(world.root().join("src/a.rs"))), Reply::Silent, "the project itself is still worked on");
    assert_eq!(reply(&write(world.root().join("src/hooks.rs"))), Reply::Silent);
}

#[test]
fn shell_lines_that_would_change_the_guard_are_denied_and_no_others() {
    assert_eq!(wrong(lines("denied"), true), Vec::<String>::new(), "denied");
    assert_eq!(wrong(lines("allowed"), false), Vec::<String>::new(), "allowed");
}

#[test]
fn calls_that_would_change_the_guard_are_denied_and_no_others() {
    assert_eq!(wrong(calls("denied"), true), Vec::<String>::new(), "denied");
    assert_eq!(wrong(calls("allowed"), false), Vec::<String>::new(), "allowed");
}

#[test]
fn a_change_of_settings_that_would_remove_the_guard_is_told_as_such() {
    let world = world();
    fs::remove_file(world.home().join(".claude/settings.json")).unwrap();
    let settings = fs::read_to_string(world.root().join(".claude/settings.json")).unwrap();
    let changed = || world.frame("s", "ConfigChange", json!({"source": "project_settings", "file_path": "x"}));
    denied(&changed(), "settings-kept");
    for text in ["{}", "", "{", "{\"disableAllHooks\": true}"] {
        world.write(".claude/settings.json", text);
        denied(&changed(), "self-protection");
    }
    world.write(".claude/settings.json", &settings.replacen('{', "{\"model\": \"x\",", 1));
    denied(&changed(), "settings-kept");
    world.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    denied(&changed(), "disableAllHooks");
}

#[test]
fn a_session_that_no_settings_guard_keeps_what_guards_it() {
    // Another program starts the hook, as a plugin or managed settings do.
    let world = World::guarded("block");
    let changed = || world.frame("s", "ConfigChange", json!({"source": "local_settings", "file_path": "x"}));
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    denied(&changed(), "settings-kept");
    world.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    denied(&changed(), "disableAllHooks");
}

#[test]
fn a_session_elsewhere_leaves_guarded_projects_alone() {
    let world = world();
    let other = World::unguarded();
    let from_elsewhere = |tool: &str, input: Value| {
        let frame = json!({
            "session_id": "e", "transcript_path": "/t", "cwd": other.root(), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        });
        let mut command = world.phasegate(&["hook", "claude-code"]);
        command.env("CLAUDE_PROJECT_DIR", other.root()).current_dir(other.root());
        command.write_stdin(frame.to_string()).output().unwrap()
    };
    let state = world.state();
    for path in [".phasegate/config.yaml", ".claude/settings.json", ".claude/skills/x/SKILL.md"]
        .map(|path| world.root().join(path))
    {
        denied(&from_elsewhere("Write", json!({"file_path": path, "content": ""})), "self-protection");
    }
    for path in [state.join("x"), world.home().join(".claude/settings.json")] {
        denied(&from_elsewhere("Write", json!({"file_path": path, "content": ""})), "self-protection");
    }
    let line = format!("rm -rf {}", state.display());
    denied(&from_elsewhere("Bash", json!({ "command": line })), "self-protection");
    let deep = (0..200).fold(json!({"path": world.root().join(".phasegate/config.yaml")}), |inner, _| json!([inner]));
    denied(&from_elsewhere("mcp__fs__write", deep), "bad-input");
    let own = world.home().join(".claude/skills/x/SKILL.md");
    for path in [other.root().join(".phasegate/config.yaml"), world.root().join("src/a.rs"), own] {
        assert_eq!(reply(&from_elsewhere("Write", json!({"file_path": path, "content": ""}))), Reply::Silent);
    }
}

#[test]
fn a_denial_names_the_path_as_the_call_gives_it() {
    let world = world();
    let input = json!({"path": ".phasegate/config.yaml", "content": "mode: warn"});
    let text = denied(&world.call("s", "1", "mcp__fs__write_file", input), "self-protection");
    assert!(!text.contains("config.yaml/"), "{text}");
    let parts = json!({"folder": ".phasegate", "name": "config.yaml"});
    denied(&world.call("s", "2", "mcp__fs__write_file", parts), "self-protection");
}

/// A client reads settings up to the root of the repository, and lines and agents keep notes in its own folder alone.
#[test]
fn what_a_client_reads_above_the_project_and_its_own_folder_are_protected() {
    let world = World::unguarded();
    world.write("pkg/.phasegate/config.yaml", "mode: block\n");
    fs::create_dir_all(world.root().join(".git")).unwrap();
    let package = world.root().join("pkg");
    frame_in(&world, &package, "s", "SessionStart", &json!({"source": "startup"})).output().unwrap();
    let write = |path: std::path::PathBuf| {
        reply(&call_in(&world, &package, "s", "Write", &json!({"file_path": path, "content": "{}"})))
    };
    let (root, home) = (world.root(), world.home());
    for path in [
        root.join(".claude/settings.local.json"),
        root.join(".mcp.json"),
        root.join("other/.claude/settings.json"),
        home.join(".claude/.config.json"),
        home.join(".claude/remote-settings.json"),
    ] {
        assert!(matches!(write(path.clone()), Reply::Denied(_)), "{}", path.display());
    }
    for path in [
        root.join("other/a.json"),
        home.join(".claude/plans/a.md"),
        home.join(".claude/projects/x/memory/a.md"),
        home.join("notes.md"),
    ] {
        assert_eq!(write(path.clone()), Reply::Silent, "{}", path.display());
    }
}
