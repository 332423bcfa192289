//! A skill that a person put in force before any agent came.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Reply, SKILL, World, denied, reply};

fn write() -> Value {
    json!({"file_path": "a.rs", "content": "x"})
}

#[test]
fn it_holds_every_session_until_a_person_ends_that() {
    let world = World::guarded("block");
    let told = world.run(&["start", "careful"], 0);
    assert!(told.contains("careful is in force in this project (block mode)"), "{told}");
    assert!(world.run(&["status"], 0).contains("careful is in force for every session (block mode)"));
    world.start("one");
    denied(&world.call("one", "t1", "Write", write()), "not-done");
    world.start("two");
    denied(&world.call("two", "t1", "Write", write()), "not-done");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
    world.run(&["end", "careful"], 0);
    assert_eq!(reply(&world.call("one", "t2", "Write", write())), Reply::Silent);
    world.start("three");
    assert_eq!(reply(&world.call("three", "t1", "Write", write())), Reply::Silent);
    let why: Value = serde_json::from_str(&world.run(&["--json", "why", "2", "--session", "one"], 0)).unwrap();
    assert_eq!(why["again"]["differs"], json!([]));
}

#[test]
fn a_command_that_may_be_the_agents_does_not_begin_it() {
    let world = World::guarded("block");
    world.start("one");
    let make = json!({"command": "make"});
    world.call("one", "t1", "Bash", make.clone());
    let output = world.phasegate(&["start", "careful"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("command-refused"), "{text}");
    world.ok("one", "t1", "Bash", make);
    world.run(&["start", "careful"], 0);
    denied(&world.call("one", "t2", "Write", write()), "not-done");
}

#[test]
fn a_person_ends_it_for_one_session() {
    let world = World::guarded("block");
    world.run(&["start", "careful"], 0);
    world.start("one");
    world.start("two");
    world.run(&["end", "careful", "--session", "one"], 0);
    assert_eq!(reply(&world.call("one", "t1", "Write", write())), Reply::Silent);
    denied(&world.call("two", "t1", "Write", write()), "not-done");
}

#[test]
fn a_session_whose_configs_do_not_have_it_is_held() {
    let world = World::guarded("block");
    world.run(&["start", "careful"], 0);
    let config = world.root().join(".phasegate/skills/careful.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::remove_file(&config).unwrap();
    world.start("one");
    let text_of = denied(&world.call("one", "t1", "Write", write()), "policy-missing");
    assert!(text_of.contains("phasegate reload"), "{text_of}");
    fs::write(config, text).unwrap();
    world.run(&["reload"], 0);
    denied(&world.call("one", "t2", "Write", write()), "not-done");
}

#[test]
fn a_journal_that_is_gone_is_not_written_anew() {
    let world = World::guarded("block");
    world.start("one");
    fs::remove_file(world.state_file("project.journal")).unwrap();
    let output = world.phasegate(&["start", "careful"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("state-missing"));
    denied(&world.call("one", "t1", "Read", json!({"file_path": "a.rs"})), "state-missing");
}

#[test]
fn configs_that_ask_for_less_are_not_accepted_in_place_of_a_state_that_is_gone() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--no-user", "--mode", "block"], 0);
    world.write(".phasegate/skills/careful.yaml", SKILL);
    let refused = |session: &str| {
        matches!(reply(&world.call(session, "t0", "Read", json!({"file_path": "a"}))), Reply::Denied(_))
    };
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    assert!(!refused("s"));
    fs::remove_dir_all(world.state()).unwrap();
    world.write(".phasegate/config.yaml", "mode: warn\n");
    assert!(refused("s") && refused("t"), "neither this session nor another one takes them");
    world.run(&["init", "claude-code", "--no-user"], 0);
    assert!(!refused("u"), "a person did");
}
