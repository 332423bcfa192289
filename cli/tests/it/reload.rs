//! `phasegate reload`: a changed policy takes effect in a live session only after a person's command.

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const OTHER: &str = "
skill: other
description: only look
mode: block
unlisted: read_only
phases:
  look:
    allowed: [Read]
    forbidden: [Edit]
";

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

fn started() -> World {
    let world = World::guarded("warn");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world
}

fn reloads(world: &World, args: &[&str]) -> Value {
    let args: Vec<_> = ["--json", "reload"].iter().chain(args).copied().collect();
    serde_json::from_str(&world.run(&args, 0)).unwrap()
}

#[test]
fn a_new_skill_and_mode_take_effect_by_the_command_alone() {
    let world = started();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/other.yaml", OTHER);
    let before = world.phasegate(&["start", "other", "--session", "s"]).output().unwrap();
    assert_eq!(before.status.code(), Some(2), "the session still uses the policy it began with");
    let shown = reloads(&world, &["--dry-run"]);
    let session = &shown["sessions"][0];
    assert_eq!((&session["added"], &session["changed"]), (&json!(["other"]), &json!(["careful"])));
    assert_eq!(session["mode"], json!({"now": "warn", "then": "block"}));
    assert_eq!(reloads(&world, &["--dry-run"]), shown, "a dry run changes nothing");
    assert_eq!(reloads(&world, &[])["sessions"], shown["sessions"]);
    assert_eq!(reloads(&world, &[])["sessions"], json!([]), "and then there is nothing left to change");
    world.run(&["start", "other", "--session", "s"], 0);
    denied(&world.call("s", "t1", "Edit", edit()), "phase-forbidden");
    let text = world.run(&["audit", "show"], 0);
    assert!(text.contains("human command reload"), "{text}");
}

#[test]
fn a_run_becomes_as_strict_as_the_configs_ask_for_now() {
    let world = started();
    world.run(&["start", "careful", "--session", "s"], 0);
    assert!(!matches!(reply(&world.call("s", "t1", "Edit", edit())), Reply::Denied(_)), "a warning only");
    world.write(".phasegate/config.yaml", "mode: block\n");
    assert!(!matches!(reply(&world.call("s", "t2", "Edit", edit())), Reply::Denied(_)), "not before the command");
    reloads(&world, &[]);
    denied(&world.call("s", "t3", "Edit", edit()), "not-done");
    world.write(".phasegate/config.yaml", "mode: warn\n");
    reloads(&world, &[]);
    denied(&world.call("s", "t4", "Edit", edit()), "not-done");
}

#[test]
fn a_run_keeps_the_skill_it_began_with() {
    let world = started();
    world.run(&["start", "careful", "--mode", "block", "--session", "s"], 0);
    world.write(".phasegate/skills/careful.yaml", "skill: careful\nphases:\n  free:\n    allowed: [\"*\"]\n");
    let shown = reloads(&world, &[]);
    assert_eq!(shown["sessions"][0]["kept"], json!(["careful"]));
    denied(&world.call("s", "t1", "Edit", edit()), "not-done");
}

#[test]
fn configs_with_mistakes_change_nothing() {
    let world = started();
    world.write(".phasegate/config.yaml", "mod: block\n");
    let output = world.phasegate(&["reload"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("policy-invalid"));
    assert_eq!(reply(&world.call("s", "t1", "Read", json!({"file_path": "a.rs"}))), Reply::Silent);
    std::fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    let gone = world.phasegate(&["reload"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gone.stderr).contains("policy-missing"));
}

#[test]
fn the_agent_may_not_reload() {
    let world = started();
    world.write(".phasegate/skills/careful.yaml", "skill: careful\nphases:\n  free:\n    allowed: [\"*\"]\n");
    world.call("s", "t1", "Bash", json!({"command": "phasegate reload"}));
    let output = world.phasegate(&["reload"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("command-refused"));
    world.ok("s", "t1", "Bash", json!({"command": "phasegate reload"}));
    let text = world.run(&["audit", "show"], 0);
    assert!(text.contains("deny [command-refused]"), "{text}");
    assert_eq!(reloads(&world, &["--dry-run"])["sessions"][0]["changed"], json!(["careful"]));
}

#[test]
fn only_the_session_that_is_named_is_reloaded() {
    let world = started();
    world.frame("two", "SessionStart", json!({"source": "startup"}));
    world.write(".phasegate/config.yaml", "mode: block\n");
    assert_eq!(reloads(&world, &["--session", "two"])["sessions"][0]["session"], "two");
    assert_eq!(reloads(&world, &["--dry-run"])["sessions"][0]["session"], "s");
    let unknown = world.phasegate(&["reload", "--session", "x"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_person_reloads_by_typing_it_and_nobody_else_does() {
    let typed = |world: &World, agent: Value| {
        let mut fields = json!({"prompt": "/phasegate reload"});
        fields.as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
        let mut frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "UserPromptSubmit"});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut hook = world.phasegate(&["hook", "claude-code"]);
        hook.env("CLAUDE_CODE_ENTRYPOINT", "cli").write_stdin(frame.to_string()).output().unwrap()
    };
    let world = started();
    world.write(".phasegate/config.yaml", "mode: block\n");
    typed(&world, json!({"agent_id": "a", "agent_type": "helper"}));
    assert_eq!(reloads(&world, &["--dry-run"])["sessions"][0]["session"], "s", "a subagent reloads nothing");
    typed(&world, json!({}));
    assert_eq!(reloads(&world, &["--dry-run"])["sessions"], json!([]));
}
