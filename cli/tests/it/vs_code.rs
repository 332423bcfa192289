//! VS Code starts the hooks of Claude Code's settings with messages of its own.

use phasegate_core::Code;
use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const POLICY: &str = "
skill: careful
unlisted: deny
phases:
  work:
    allowed: [{tool: Edit, writes: 'src/**'}, {command: 'cargo test'}]
    forbidden: [{tool: Edit, writes: 'data/raw/**'}]
";

/// A message in the spelling of the documentation.
fn documented(world: &World, event: &str, fields: Value) -> Vec<u8> {
    let common = json!({"timestamp": "2026-06-03T10:30:00.000Z", "cwd": world.root(), "sessionId": "v",
        "hookEventName": event, "transcript_path": "/t.json"});
    with(common, fields)
}

/// A message in the spelling of the source, which says no folder.
fn of_source(event: &str, fields: Value) -> Vec<u8> {
    let common = json!({"timestamp": "2026-06-03T10:30:00.000Z", "hook_event_name": event, "session_id": "v"});
    with(common, fields)
}

fn with(mut common: Value, fields: Value) -> Vec<u8> {
    common.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    common.to_string().into_bytes()
}

fn call(tool: &str, input: Value) -> Value {
    json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"})
}

#[test]
fn a_harmless_call_runs_and_a_protected_path_is_kept() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        for bytes in [
            documented(&world, "SessionStart", json!({"source": "new"})),
            documented(&world, "UserPromptSubmit", json!({"prompt": "hello"})),
            documented(&world, "PreToolUse", call("read_file", json!({"filePath": world.root().join("a.rs")}))),
            documented(&world, "PreToolUse", call("run_in_terminal", json!({"command": "cargo test"}))),
            of_source("PreToolUse", call("create_file", json!({"filePath": world.root().join("b.rs"), "content": ""}))),
            documented(&world, "Stop", json!({"stop_hook_active": false})),
        ] {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert_eq!(reply(&world.hook(bytes)), Reply::Silent, "{mode}: {text}");
        }
    }
    let world = World::guarded("block");
    world.hook(documented(&world, "SessionStart", json!({"source": "new"})));
    let config = world.root().join(".phasegate/config.yaml");
    for fields in [
        call("create_file", json!({"filePath": config, "content": "mode: warn"})),
        call(
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Delete File: .phasegate/config.yaml\n*** End Patch"}),
        ),
        call("multi_replace_string_in_file", json!({"replacements": [{"filePath": config, "oldString": "a"}]})),
        call("editFiles", json!({"files": [".phasegate/config.yaml"]})),
        call("run_in_terminal", json!({"command": "rm .phasegate/config.yaml"})),
    ] {
        denied(&world.hook(documented(&world, "PreToolUse", fields.clone())), Code::SelfProtection.id());
        denied(&world.hook(of_source("PreToolUse", fields)), Code::SelfProtection.id());
    }
}

#[test]
fn a_run_of_the_project_judges_its_calls() {
    let world = World::guarded("block");
    world.write(".phasegate/skills/careful.yaml", POLICY);
    world.run(&["start", "careful", "--project", world.root().to_str().unwrap()], 0);
    world.hook(documented(&world, "SessionStart", json!({"source": "new"})));
    let call = |tool: &str, input: Value| reply(&world.hook(documented(&world, "PreToolUse", call(tool, input))));
    let edit =
        |path: &str| call("replace_string_in_file", json!({"filePath": world.root().join(path), "oldString": "a"}));
    assert_eq!(edit("src/a.rs"), Reply::Silent);
    assert!(matches!(edit("data/raw/a.csv"), Reply::Denied(_)));
    assert_eq!(call("run_in_terminal", json!({"command": "cargo test"})), Reply::Silent);
    assert!(matches!(call("run_in_terminal", json!({"command": "cargo publish"})), Reply::Denied(_)));
}
