//! Rules that read facts of earlier calls, from the config to the hook's answer.

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const PASSED: &str = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
const TWICE: &str = "@id(\"twice\") @reason(\"once is enough\") forbid(principal, action, resource)\n\
                     when { context has command && context.command.program == \"touch\" && context.facts.touched > 0 };\n";
const OLD: &str = "@id(\"tests\") forbid(principal, action, resource)\n\
                   unless temporal { formerly within 8h Action::\"Bash\"::response{ output.tests: \"passed\" } };\n";

fn bash(world: &World, session: &str, id: &str, command: &str) -> std::process::Output {
    world.call(session, id, "Bash", json!({"command": command}))
}

/// The command ran to its end and printed this.
fn ran(world: &World, session: &str, id: &str, command: &str, printed: &str) {
    assert_eq!(reply(&bash(world, session, id, command)), Reply::Silent, "{command}");
    ended(world, session, id, command, printed);
}

fn ended(world: &World, session: &str, id: &str, command: &str, printed: &str) {
    let response = json!({"stdout": printed, "stderr": "", "interrupted": false, "isImage": false});
    let fields =
        json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id, "tool_response": response});
    world.frame(session, "PostToolUse", fields);
}

fn with_pack(names: &str) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", &format!("rules: {{packs: [{names}]}}\n"));
    world.start("s");
    world
}

#[test]
fn a_push_runs_after_the_tests_and_not_after_a_change_in_any_session() {
    let world = with_pack("tests-before-push");
    world.start("other");
    denied(&bash(&world, "s", "1", "git push"), "phasegate: rule ");
    ran(&world, "s", "2", "cargo test", PASSED);
    assert_eq!(reply(&bash(&world, "s", "3", "git add -A && git commit -m x && git push")), Reply::Silent);
    assert_eq!(reply(&bash(&world, "other", "4", "git push")), Reply::Silent);
    let file = json!({"file_path": world.root().join("a.rs")});
    assert_eq!(reply(&world.call("other", "5", "Edit", file)), Reply::Silent);
    let text = denied(&bash(&world, "s", "6", "git push"), "phasegate: rule ");
    assert!(text.contains("the tests have not passed since the last change"), "{text}");
}

#[test]
fn tests_during_which_a_file_changed_prove_nothing() {
    for editor in ["s", "other"] {
        let world = with_pack("tests-before-push");
        world.start("other");
        assert_eq!(reply(&bash(&world, "s", "1", "cargo test")), Reply::Silent);
        let file = json!({"file_path": world.root().join("a.rs")});
        assert_eq!(reply(&world.call(editor, "2", "Edit", file.clone())), Reply::Silent);
        ended(&world, "s", "1", "cargo test", PASSED);
        denied(&bash(&world, "s", "3", "git push"), "phasegate: rule ");
        let fields = json!({"tool_name": "Edit", "tool_input": file, "tool_use_id": "2", "tool_response": {}});
        world.frame(editor, "PostToolUse", fields);
        ran(&world, "s", "4", "sed -i s/a/b/ a.rs && cargo test", PASSED);
        denied(&bash(&world, "s", "5", "git push"), "phasegate: rule ");
        ran(&world, "s", "6", "cargo test", PASSED);
        assert_eq!(reply(&bash(&world, "s", "7", "git push")), Reply::Silent);
    }
}

#[test]
fn what_happened_outlives_a_reload_and_a_process() {
    let world = with_pack("tests-before-push");
    ran(&world, "s", "1", "cargo test", PASSED);
    world.write(".phasegate/config.yaml", "rules: {packs: [no-force-push, tests-before-push]}\n");
    world.run(&["reload"], 0);
    ran(&world, "s", "2", "git push", "");
    denied(&bash(&world, "s", "3", "git push -f"), "phasegate: rule ");
    // A fact that goes takes what is kept for it along.
    world.write(".phasegate/config.yaml", "rules: {packs: [no-force-push, edit-budget]}\n");
    world.run(&["reload"], 0);
    ran(&world, "s", "4", "git status", "");
    world.write(".phasegate/config.yaml", "rules: {packs: [tests-before-push]}\n");
    world.run(&["reload"], 0);
    denied(&bash(&world, "s", "5", "git push"), "phasegate: rule ");
}

#[test]
fn a_fact_of_the_project_is_one_of_all_sessions() {
    let world = with_pack("one-migration-at-a-time");
    world.start("other");
    assert_eq!(reply(&bash(&world, "s", "1", "alembic upgrade head")), Reply::Silent);
    denied(&bash(&world, "other", "2", "alembic upgrade head"), "phasegate: rule ");
    ended(&world, "s", "1", "alembic upgrade head", "");
    assert_eq!(reply(&bash(&world, "other", "3", "alembic upgrade head")), Reply::Silent);
    denied(&bash(&world, "s", "4", "alembic upgrade head"), "phasegate: rule ");
}

#[test]
fn a_record_without_arguments_is_decided_again_as_it_was() {
    let world = World::unguarded();
    let packs = "rules: {packs: [edit-budget, no-network-after-secrets, one-migration-at-a-time, tests-before-push]}";
    world.write(".phasegate/config.yaml", &format!("redact: [command, file_path]\n{packs}\n"));
    world.start("s");
    denied(&bash(&world, "s", "1", "git push"), "phasegate: rule ");
    ran(&world, "s", "2", "cargo test", PASSED);
    ran(&world, "s", "3", "alembic upgrade head && sqlx migrate run", "");
    ran(&world, "s", "4", "git push", "");
    ran(&world, "s", "5", "cat .env", "");
    assert_eq!(reply(&world.call("s", "7", "Edit", json!({"file_path": world.root().join("a.rs")}))), Reply::Silent);
    denied(&bash(&world, "s", "8", "git push"), "phasegate: rule ");
    let told: Value = serde_json::from_str(&world.run(&["--json", "audit", "verify"], 0)).unwrap();
    assert!(!told.to_string().contains("differ"), "{told}");
    for record in 1..=11 {
        let told = world.run(&["why", &record.to_string()], 0);
        assert!(told.contains("the same answer and the same changes"), "{told}");
    }
}

#[test]
fn facts_stand_in_the_file_beside_the_rules() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", TWICE);
    world.write(".phasegate/rules/own.yaml", "facts:\n  touched: {count: {command: \"touch *\"}}\n");
    world.run(&["check"], 0);
    world.start("s");
    ran(&world, "s", "1", "touch a", "");
    denied(&bash(&world, "s", "2", "touch b"), "phasegate: rule twice");
    // Those before it in the same line have happened.
    world.start("t");
    denied(&bash(&world, "t", "3", "touch a && touch b"), "phasegate: rule twice");
    // A fact that no file has is named with what is meant.
    world.write(".phasegate/rules/own.cedar", &TWICE.replace("touched", "touchd"));
    let told = world.run(&["check"], 1);
    assert!(told.contains("touchd") && told.contains("touched"), "{told}");
}

#[test]
fn a_condition_in_the_old_words_denies_and_is_told_as_a_fact() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", OLD);
    let told = world.run(&["check"], 1);
    assert!(told.contains("facts: {secrets: {count: {reads: \"@secrets\"}, within: 1d}}"), "{told}");
    world.start("s");
    denied(&bash(&world, "s", "1", "git status"), "policy-invalid");
}
