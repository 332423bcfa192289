//! Files that have to be as they were: real ones, changed by somebody whom no hook sees.

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: fresh
mode: block
finish: required
phases:
  change:
    allowed: [{writes: 'src/**'}, {command: cargo test *}]
    done_when: {tests: passed, unchanged: 'src/**'}
  commit:
    allowed: [{command: git commit *}]
    done_when: {ok: {command: git commit *}}
";

fn line(command: &str) -> Value {
    json!({ "command": command })
}

fn stop(world: &World, session: &str) -> Reply {
    reply(&world.frame(session, "Stop", json!({"stop_hook_active": false})))
}

#[test]
fn tests_that_passed_prove_nothing_of_files_that_changed_since() {
    let world = World::unguarded();
    world.write(".phasegate/skills/fresh.yaml", SKILL);
    world.write("src/lib.rs", "pub fn one() {}\n");
    let passed = |id: &str, meanwhile: &dyn Fn()| {
        assert_eq!(reply(&world.call("one", id, "Bash", line("cargo test"))), Reply::Silent);
        meanwhile();
        let response = json!({"stdout": "running 1 test\ntest one ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", "stderr": "", "interrupted": false});
        world.frame(
            "one",
            "PostToolUse",
            json!({"tool_use_id": id, "tool_name": "Bash", "tool_input": line("cargo test"), "tool_response": response}),
        )
    };
    let commit = |id: &str| world.call("one", id, "Bash", line("git commit -m one"));
    world.start("one");
    world.call("one", "s", "Skill", json!({"skill": "fresh"}));
    world.ok("one", "s", "Skill", json!({"skill": "fresh"}));

    passed("t1", &|| {});
    world.write("src/lib.rs", "pub fn two() {}\n");
    let text = denied(&commit("c1"), "not-done");
    assert!(text.contains("as `src/**` changed since the last one"), "{text}");
    assert!(matches!(stop(&world, "one"), Reply::Denied(_)), "the agent may not stop either");

    passed("t2", &|| world.write("src/new.rs", "// while the tests run\n"));
    denied(&commit("c2"), "not-done");

    passed("t3", &|| {});
    world.write("notes.md", "not among the files\n");
    assert!(!matches!(reply(&commit("c3")), Reply::Denied(_)));
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

/// Looking at many files takes long, so only an answer that depends on them asks.
#[test]
fn a_call_that_no_phase_lists_looks_at_no_file() {
    let world = World::unguarded();
    world.write(".phasegate/skills/fresh.yaml", SKILL);
    let lines = [
        json!({"event": "tool_call", "id": "1", "tool": "Bash", "input": line("cargo test")}),
        json!({"event": "tool_result", "id": "1", "ok": true, "exit_code": 0, "tests": [{"runner": "cargo", "passed": 1}]}),
        json!({"event": "tool_call", "id": "2", "tool": "Read", "input": {"file_path": "src/lib.rs"}}),
        json!({"event": "tool_call", "id": "3", "tool": "Write", "input": {"file_path": "src/lib.rs"}}),
        json!({"event": "tool_call", "id": "4", "tool": "Bash", "input": line("git commit -m one")}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    world.write("one.jsonl", &text);
    let told = world.run(&["--json", "replay", "--skill", "fresh", "one.jsonl"], 0);
    let asked = |line: &str| {
        let output: Value = serde_json::from_str(line).unwrap();
        output["facts"].as_object().unwrap().len()
    };
    assert_eq!(told.lines().map(asked).collect::<Vec<_>>(), [1, 0, 0, 0, 1], "{told}");
}
