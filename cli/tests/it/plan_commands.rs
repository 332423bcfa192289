//! `phasegate plan`: which plan is meant, and what a person reads of it.

use crate::support::{Reply, World, reply};
use serde_json::{Value, json};
use std::process::Output;

/// A project in plan mode, in which each of these sessions has written a plan of one step.
fn planned(sessions: &[&str]) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [plan-mode]\n");
    for session in sessions {
        world.start(session);
        frame(&world, session, "UserPromptSubmit", json!({"prompt": "plan it"}));
        write(&world, session, &format!("touch {session}"));
    }
    world
}

/// A frame of the client in its plan mode.
fn frame(world: &World, session: &str, event: &str, mut fields: Value) -> Output {
    fields["permission_mode"] = json!("plan");
    world.frame(session, event, fields)
}

fn call(world: &World, session: &str, id: &str, tool: &str, input: &Value) -> Output {
    frame(world, session, "PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
}

/// The agent of the session writes its plan.
fn write(world: &World, session: &str, command: &str) {
    write_steps(world, session, command, &json!([{"command": command}]));
}

/// The agent of the session writes its plan of these steps, in a call of this name.
fn write_steps(world: &World, session: &str, command: &str, steps: &Value) {
    write_file(world, session, &format!("plans/{session}.json"), &format!("w-{command}"), steps);
}

/// The agent of the session writes a plan of these steps, in a call of this id.
fn write_file(world: &World, session: &str, path: &str, id: &str, steps: &Value) {
    let text = json!({"steps": steps}).to_string();
    let input = json!({"file_path": world.root().join(path), "content": text});
    assert_eq!(reply(&call(world, session, id, "Write", &input)), Reply::Silent);
    world.write(path, &text);
    let answer =
        json!({"tool_name": "Write", "tool_input": input, "tool_use_id": id, "tool_response": {"type": "text"}});
    frame(world, session, "PostToolUse", answer);
}

fn runs(world: &World, session: &str, command: &str) -> bool {
    let answer = call(world, session, &format!("c-{session}-{command}"), "Bash", &json!({"command": command}));
    let passes = !matches!(reply(&answer), Reply::Denied(_));
    frame(world, session, "Stop", json!({"stop_hook_active": false}));
    passes
}

#[test]
fn of_two_sessions_each_has_its_own_plan_approved() {
    let world = planned(&["one", "two"]);
    let listed = world.run(&["status", "plans"], 0);
    assert!(listed.contains("proposed: session one") && listed.contains("proposed: session two"), "{listed}");
    let unsure = world.phasegate(&["approve", "plan"]).output().unwrap();
    let text = String::from_utf8(unsure.stderr).unwrap();
    assert!(text.contains("`plans/one.json` of session one, `plans/two.json` of session two"), "{text}");
    assert!(world.run(&["approve", "plan", "plans/one.json"], 0).contains("touch one"));
    assert!(runs(&world, "one", "touch one") && !runs(&world, "two", "touch two"));
    assert!(world.run(&["approve", "plan", "--session", "two"], 0).contains("touch two"));
    assert!(runs(&world, "two", "touch two"));
}

#[test]
fn a_session_whose_plan_is_gone_has_none_to_approve() {
    let world = planned(&["one", "two"]);
    std::fs::remove_file(world.root().join("plans/two.json")).unwrap();
    let refused = world.phasegate(&["approve", "plan", "--session", "two"]).output().unwrap();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("nothing waits"));
    assert!(world.run(&["approve", "plan"], 0).contains("touch one"));
}

#[test]
fn a_rejected_plan_waits_no_more_and_the_agent_is_told() {
    let world = planned(&["one"]);
    world.run(&["approve", "--reject", "plan"], 0);
    let status = world.run(&["status"], 0);
    assert!(status.contains("rejected: plan") && !status.contains("waits for you"), "{status}");
    let told = frame(&world, "one", "UserPromptSubmit", json!({"prompt": "go on"}));
    assert!(String::from_utf8(told.stdout).unwrap().contains("the user rejected `plan` as it is now"));
    write(&world, "one", "touch other");
    assert!(world.run(&["status"], 0).contains("waits for you: plan"));
}

#[test]
fn status_shows_what_became_of_each_step() {
    let world = planned(&["one"]);
    world.run(&["approve", "plan"], 0);
    assert!(world.run(&["status"], 0).contains("steps: 1 open"));
    assert!(runs(&world, "one", "touch one"));
    assert!(world.run(&["status"], 0).contains("steps: 1 ran"));
}

#[test]
fn a_step_that_self_protection_denies_is_refused_with_its_plan() {
    let world = planned(&["one"]);
    let config = world.root().join(".phasegate/config.yaml");
    for (number, (step, why)) in [
        (json!({"tool": "Edit", "writes": ".phasegate/config.yaml"}), "which is the guard's config"),
        (json!({"tool": "edit", "args": {"file_path": config}}), "which is the guard's config"),
        (json!({"command": "git clean -fd"}), "it would change `.`, which is the guard's config"),
        (json!({"tool": "Write", "writes": "plans/b.json"}), "it would write `plans/b.json`, a plan"),
        (json!({"command": "cp notes.md plans/b.md"}), "it would write `plans/b.md`, a plan"),
        (json!({"tool": "Bash", "args": {"command": "touch plans/b.json"}}), "it would write `plans/b.json`, a plan"),
        (json!({"args": {"command": {"one_of": ["touch plans/b.json"]}}}), "it would write `plans/b.json`, a plan"),
    ]
    .into_iter()
    .enumerate()
    {
        write_steps(&world, "one", &number.to_string(), &json!([{"id": "a", "command": "touch a"}, step]));
        let refused = world.phasegate(&["approve", "plan"]).output().unwrap();
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(text.contains("cannot be approved as it is") && text.contains(why), "{step}: {text}");
        assert!(world.run(&["status", "plans"], 0).contains("proposed, cannot be approved"));
    }
    write_steps(&world, "one", "both", &json!([{"command": ["git clean -fd", "touch a"]}]));
    world.run(&["approve", "plan"], 0);
    assert!(runs(&world, "one", "touch a"), "one of its calls can be made");
}

#[test]
fn a_plan_is_shown_and_approved_however_many_others_lie_beside_it() {
    let world = planned(&["one"]);
    let steps: Vec<Value> = (0..20).map(|number| json!({"command": format!("touch f{number}")})).collect();
    (0..60).for_each(|number| world.write(&format!("plans/{number}.json"), &json!({"steps": steps}).to_string()));
    world.write("plans/large.json", &format!("{}{}", json!({"steps": steps}), " ".repeat(1024 * 1024)));
    let many: Vec<Value> = (0..201).map(|number| json!({"command": format!("touch f{number}")})).collect();
    world.write("plans/many.json", &json!({"steps": many}).to_string());
    let listed = world.run(&["status", "plans"], 0);
    assert_eq!(listed.lines().count(), 63, "{listed}");
    assert_eq!(listed.lines().filter(|line| line.contains("cannot be approved")).count(), 2, "{listed}");
    assert!(world.run(&["status", "plans", "7"], 0).contains("touch f19"));
    assert!(world.run(&["status", "plans", "large"], 0).contains("larger than 1 MiB"));
    assert!(world.run(&["status", "plans", "many"], 0).contains("it has 201 steps, and 200 are the most"));
    assert!(world.run(&["approve", "plan"], 0).contains("touch one"));
    assert!(runs(&world, "one", "touch one"));
}

#[test]
fn an_argument_that_is_a_path_is_compared_as_one() {
    let world = planned(&["one"]);
    let steps =
        json!([{"tool": "Edit", "args": {"file_path": "notes.md"}}, {"tool": "Edit", "args": {"file_path": "./a.md"}}]);
    write_steps(&world, "one", "paths", &steps);
    world.run(&["approve", "plan"], 0);
    let edit = |id: &str, file: &str| {
        let input = json!({"file_path": world.root().join(file), "old_string": "a", "new_string": "b"});
        !matches!(reply(&call(&world, "one", id, "Edit", &input)), Reply::Denied(_))
    };
    assert!(!edit("e1", "b.md"));
    assert!(edit("e2", "notes.md") && edit("e3", "a.md"));
}

#[test]
fn a_plan_that_was_ended_with_its_prose_alone_left_is_completed() {
    let world = planned(&["one"]);
    write_steps(&world, "one", "prose", &json!(["Clients wait.", {"command": "touch one"}]));
    world.run(&["approve", "plan"], 0);
    let (id, input) = ("c", json!({"command": "touch one"}));
    assert!(!matches!(reply(&call(&world, "one", id, "Bash", &input)), Reply::Denied(_)));
    let response = json!({"stdout": "", "stderr": "", "interrupted": false});
    let answer = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id, "tool_response": response});
    frame(&world, "one", "PostToolUse", answer);
    assert!(world.run(&["status", "plans"], 0).contains("executing"));
    world.run(&["end", "plan-mode", "--session", "one"], 0);
    assert!(world.run(&["status", "plans"], 0).contains("completed"));
}

#[test]
fn a_plan_that_another_session_rewrote_is_that_ones() {
    let world = planned(&["one", "two"]);
    write_file(&world, "two", "plans/one.json", "over", &json!([{"command": "touch other"}]));
    frame(&world, "one", "UserPromptSubmit", json!({"prompt": "go on"}));
    let listed = world.run(&["status", "plans"], 0);
    let line = listed.lines().find(|line| line.starts_with("plans/one.json")).unwrap();
    assert!(line.contains("proposed: session two"), "{listed}");
    let refused = world.phasegate(&["approve", "plan", "--session", "one"]).output().unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("another session rewrote `plans/one.json`"), "{text}");
    assert!(!runs(&world, "one", "touch other"));
    write(&world, "one", "touch mine");
    assert!(world.run(&["approve", "plan", "--session", "one"], 0).contains("touch mine"));
    assert!(runs(&world, "one", "touch mine"));
}
