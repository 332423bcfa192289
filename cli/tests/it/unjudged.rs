//! Calls that ran though the guard was never asked about them, because something else answered in its place.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::{World, denied};

fn shown(output: &Output, field: &str) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What the client shows its user with the result of this call.
fn told(world: &World, session: &str, id: &str) -> String {
    shown(&world.ok(session, id, "Read", json!({"file_path": "notes.md"})), "/systemMessage")
}

fn doctor(world: &World) -> String {
    String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap()
}

#[test]
fn a_result_of_a_call_that_was_never_judged_is_told_until_a_person_accepts_it() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        world.start("s");
        let result = world.ok("s", "t1", "Bash", json!({"command": "mv aside/phasegate bin/phasegate"}));
        for field in ["/systemMessage", "/hookSpecificOutput/additionalContext"] {
            let text = shown(&result, field);
            assert!(
                text.contains("the call `t1` of Bash ran, and the guard was never asked"),
                "{mode} {field}: {text}"
            );
        }
        let what = "the call `t1` of Bash in session `s`";
        assert!(doctor(&world).contains(what), "{mode}");
        let answer = world.run(&["reload"], 0);
        assert!(answer.contains("accepted: calls that ran unjudged") && answer.contains(what), "{mode}: {answer}");
        assert!(!doctor(&world).contains(what), "{mode}");
    }
}

#[test]
fn such_a_result_is_no_evidence() {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    assert!(told(&world, "s", "t1").contains("is no evidence"));
    denied(&world.call("s", "t2", "Edit", json!({"file_path": "notes.md"})), "not-done");
}

#[test]
fn calls_that_were_judged_are_not_told() {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    let read = |id| world.call("s", id, "Read", json!({"file_path": "notes.md"}));
    denied(&world.call("s", "t0", "Edit", json!({"file_path": "notes.md"})), "not-done");
    assert_eq!(told(&world, "s", "t0"), "", "denied, and it ran nevertheless");
    read("t1");
    assert_eq!(told(&world, "s", "t1"), "");
    assert_eq!(told(&world, "s", "t1"), "", "told twice");
    read("t2");
    world.frame("s", "PostToolBatch", json!({}));
    assert_eq!(told(&world, "s", "t2"), "", "late");
    read("t4");
    world.frame("s", "SessionStart", json!({"source": "resume"}));
    assert_eq!(told(&world, "s", "t4"), "", "resumed");
    read("t5");
    world.frame("t", "SessionStart", json!({"source": "clear"}));
    assert_eq!(told(&world, "t", "t5"), "", "cleared");
    assert_eq!(told(&world, "unheard-of", "t6"), "", "its start was not seen");
    assert!(!doctor(&world).contains("never asked"));
}
