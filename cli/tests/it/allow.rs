//! `phasegate allow`: a person lets a denied call pass once.

use std::fs;

use serde_json::{Value, json};

use crate::accepted::prompt_in_a_terminal;
use crate::support::{Reply, World, reply};

const SKILL: &str = "
skill: careful
start: [session]
phases:
  look:
    do: look at it
    allowed: [Read]
    unlisted: read_only
    forbidden: [{writes: src/**}]
";

fn world() -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/careful.yaml", SKILL);
    world.write("src/a.py", "x\n");
    world.run(&["init", "claude-code"], 0);
    world.start("s");
    world
}

fn edit(world: &World, id: &str, new: &str) -> Reply {
    let path = world.root().join("src/a.py");
    reply(&world.call("s", id, "Edit", json!({"file_path": path, "old_string": "x", "new_string": new})))
}

fn status(world: &World) -> Value {
    serde_json::from_str(&world.run(&["--json", "status"], 0)).unwrap()
}

#[test]
fn the_call_passes_once_with_other_content_and_what_it_wrote_stays() {
    let world = world();
    assert!(matches!(edit(&world, "c1", "y"), Reply::Denied(_)));
    let said = world.run(&["allow", "a", "typo"], 0);
    assert!(said.contains("Edit") && said.contains("passes once in session s"), "{said}");
    assert_eq!(edit(&world, "c2", "z"), Reply::Silent);
    fs::write(world.root().join("src/a.py"), "z\n").unwrap();
    let path = world.root().join("src/a.py");
    world.ok("s", "c2", "Edit", json!({"file_path": path, "old_string": "x", "new_string": "z"}));
    assert_eq!(status(&world).get("changed"), None, "what a person allowed is no violation");
    assert!(matches!(reply(&world.call("s", "c3", "Read", json!({"file_path": path}))), Reply::Silent));
    assert!(matches!(edit(&world, "c4", "z"), Reply::Denied(_)), "once");
    assert!(world.run(&["audit", "show"], 0).contains("allow"), "the journal has it");
}

#[test]
fn a_prompt_takes_it_and_another_call_or_agent_is_not_meant() {
    let world = world();
    assert!(matches!(edit(&world, "c1", "y"), Reply::Denied(_)));
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    prompt_in_a_terminal(&world, "s", "/phasegate allow a typo");
    let other = world.root().join("src/b.py");
    let write = json!({"file_path": other, "content": "x"});
    assert!(matches!(reply(&world.call("s", "c2", "Write", write)), Reply::Denied(_)));
    assert_eq!(edit(&world, "c3", "z"), Reply::Silent);
}

/// The client sends the prompt of a scheduled task like one that a person typed.
#[test]
fn a_prompt_that_may_be_of_a_scheduled_task_is_no_persons() {
    let world = world();
    assert!(matches!(edit(&world, "c1", "y"), Reply::Denied(_)));
    let tasks = |prompt: &str| {
        world.write(".claude/scheduled_tasks.json", &format!(r#"{{"tasks": [{{"prompt": "{prompt}"}}]}}"#))
    };
    tasks("/phasegate allow");
    let answer = prompt_in_a_terminal(&world, "s", "/phasegate allow");
    assert!(String::from_utf8_lossy(&answer.stdout).contains("counts only where a person types it"), "{answer:?}");
    assert!(matches!(edit(&world, "c2", "z"), Reply::Denied(_)));
    tasks("look at the build");
    prompt_in_a_terminal(&world, "s", "/phasegate allow");
    assert_eq!(edit(&world, "c3", "z"), Reply::Silent);
}

#[test]
fn what_protects_the_guard_is_not_let_pass_and_no_agent_says_so() {
    let world = world();
    let settings = json!({"file_path": world.root().join(".claude/settings.json"), "content": "{}"});
    assert!(matches!(reply(&world.call("s", "c1", "Write", settings)), Reply::Denied(_)));
    let refused = world.phasegate(&["allow"]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() != Some(0) && said.contains("was not denied by a skill or by a rule"), "{said}");
    assert!(matches!(edit(&world, "c2", "y"), Reply::Denied(_)));
    let line = json!({"command": "phasegate allow"});
    assert!(matches!(reply(&world.call("s", "c3", "Bash", line)), Reply::Denied(_)));
}

/// A run that its own first call began, and that was denied, is over with the turn. The next one denies the same call.
#[test]
fn the_call_passes_too_where_the_run_that_denied_it_is_over() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [test-first]\n");
    world.write("src/a.py", "x\n");
    world.run(&["init", "claude-code"], 0);
    world.start("s");
    assert!(matches!(edit(&world, "c1", "y"), Reply::Denied(_)));
    world.frame("s", "Stop", json!({"stop_hook_active": true}));
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert!(matches!(edit(&world, "c2", "y"), Reply::Denied(_)));
    world.frame("s", "Stop", json!({"stop_hook_active": true}));
    world.run(&["allow"], 0);
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert_eq!(edit(&world, "c3", "y"), Reply::Silent);
}

/// A skill that begins by itself stays away for the session once a person ended it.
#[test]
fn what_a_person_ended_does_not_begin_again_by_itself() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [test-first]\n");
    world.write("src/a.py", "x\n");
    world.run(&["init", "claude-code"], 0);
    world.start("s");
    assert!(matches!(edit(&world, "c1", "y"), Reply::Denied(_)));
    world.run(&["end"], 0);
    assert_eq!(edit(&world, "c2", "y"), Reply::Silent);
    world.start("t");
    let path = world.root().join("src/a.py");
    let input = json!({"file_path": path, "old_string": "x", "new_string": "y"});
    assert!(matches!(reply(&world.call("t", "c3", "Edit", input)), Reply::Denied(_)));
}
