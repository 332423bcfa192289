//! Copilot CLI starts the hooks of Claude Code's settings with messages of its own: recorded from 1.0.102.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::World;

fn sent(world: &World, message: Value) -> Output {
    let mut common = json!({"timestamp": "2026-11-28T17:28:06.049Z", "cwd": world.root(), "session_id": "c"});
    if message.get("sessionId").is_some() {
        common = json!({"timestamp": 1, "cwd": world.root()});
    }
    common.as_object_mut().unwrap().extend(message.as_object().unwrap().clone());
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.env("COPILOT_CLI", "1").env("CLAUDE_PROJECT_DIR", world.root());
    hook.write_stdin(common.to_string()).output().unwrap()
}

fn called(world: &World, event: &str, tool: &str, input: &Value, rest: Value) -> Output {
    let mut message = json!({"hook_event_name": event, "tool_name": tool, "tool_input": input});
    message.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    sent(world, message)
}

/// The call passes: nothing is decided of it, whatever is told.
fn passes(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let reply: Value = if text.trim().is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
    let said = &reply["hookSpecificOutput"];
    let decisions = [&reply["decision"], &reply["permissionDecision"], &reply["behavior"], &reply["continue"]];
    for decision in decisions.into_iter().chain([&said["permissionDecision"], &said["decision"]]) {
        assert!(decision.is_null(), "{text}");
    }
}

/// The call is denied in the form that this host honours and shows: exit status 0.
fn denied(output: &Output, words: &str) {
    assert_eq!(output.status.code(), Some(0), "exit status 2 loses the reason");
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = &reply["hookSpecificOutput"];
    assert_eq!((&said["hookEventName"], &said["permissionDecision"]), (&json!("PreToolUse"), &json!("deny")));
    let reason = said["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains(words), "{reason}");
}

fn answered(text: &str) -> Value {
    json!({"tool_result": {"result_type": "success", "text_result_for_llm": text}})
}

#[test]
fn a_harmless_call_runs_and_a_denial_is_one_that_it_shows() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        passes(&sent(&world, json!({"hook_event_name": "SessionStart", "source": "new", "initial_prompt": "x"})));
        passes(&sent(&world, json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"})));
        let ls = json!({"command": "ls", "description": "x", "mode": "sync"});
        passes(&called(&world, "PreToolUse", "Bash", &ls, json!({})));
        passes(&sent(
            &world,
            json!({"hookName": "permissionRequest", "sessionId": "c", "toolName": "bash", "toolInput": {"command": "ls"},
                "permissionSuggestions": []}),
        ));
        passes(&called(&world, "PostToolUse", "Bash", &ls, answered("a\n<shellId: 0 completed with exit code 0>")));
        passes(&sent(
            &world,
            json!({"sessionId": "c", "agentName": "general-purpose", "agent_id": "a", "agent_type": "general-purpose"}),
        ));
        passes(&sent(&world, json!({"hook_event_name": "Stop", "agent_id": "a", "stop_hook_active": false})));
        passes(&sent(&world, json!({"hook_event_name": "Stop", "stop_hook_active": false})));
    }
    let world = World::guarded("block");
    sent(&world, json!({"hook_event_name": "SessionStart", "source": "new"}));
    let config = world.root().join(".phasegate/config.yaml");
    denied(&called(&world, "PreToolUse", "Write", &json!({"path": config, "file_text": ""}), json!({})), "protect");
    let rm = json!({"command": "rm .phasegate/config.yaml", "mode": "sync"});
    denied(&called(&world, "PreToolUse", "Bash", &rm, json!({})), "protect");
    denied(&called(&world, "PreToolUse", "Edit", &json!({"path": 5, "old_str": []}), json!({"tool_name": 5})), "input");
}

#[test]
fn the_exit_status_in_the_answer_is_evidence() {
    let world = World::guarded("block");
    world.write(
        ".phasegate/skills/tested.yaml",
        "skill: tested\nphases:\n  test:\n    allowed: [{command: 'cargo test'}]\n    forbidden: [Write]\n    \
         done_when: {ok: {command: 'cargo test'}}\n  write:\n    allowed: [Write]\n",
    );
    world.run(&["start", "tested", "--project", world.root().to_str().unwrap()], 0);
    sent(&world, json!({"hook_event_name": "SessionStart", "source": "new"}));
    let write = json!({"path": world.root().join("a.rs"), "file_text": ""});
    let (test, other) =
        (json!({"command": "cargo test", "mode": "sync"}), json!({"command": "cargo test", "mode": "x"}));
    for end in ["\n<shellId: 0 completed with exit code 3>", "<shellId: 0 completed with exit code 0>\nmore", ""] {
        passes(&called(&world, "PreToolUse", "Bash", &test, json!({})));
        passes(&called(&world, "PostToolUse", "Bash", &test, answered(&format!("ok{end}"))));
        denied(&called(&world, "PreToolUse", "Write", &write, json!({})), "cargo test");
    }
    // An answer to another call is none to this one.
    passes(&called(&world, "PreToolUse", "Bash", &test, json!({})));
    passes(&called(&world, "PostToolUse", "Bash", &other, answered("\n<shellId: 0 completed with exit code 0>")));
    denied(&called(&world, "PreToolUse", "Write", &write, json!({})), "cargo test");
    passes(&called(&world, "PostToolUse", "Bash", &test, answered("\n<shellId: 0 completed with exit code 0>")));
    passes(&called(&world, "PreToolUse", "Write", &write, json!({})));
}
