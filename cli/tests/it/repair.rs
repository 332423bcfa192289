//! Damaged journals that a person has set aside, and sessions that a person ends.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

fn read() -> Value {
    json!({"file_path": "a.rs"})
}

/// A session `s` in which `careful` is active and may write.
fn lived() -> World {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
    world.call("s", "t1", "Read", read());
    world.ok("s", "t1", "Read", read());
    assert!(passes(&world.call("s", "t2", "Edit", edit())));
    world
}

fn passes(output: &Output) -> bool {
    !matches!(reply(output), Reply::Denied(_))
}

fn sessions(world: &World) -> PathBuf {
    world.state_file("project.journal").with_file_name("sessions")
}

fn journal(world: &World) -> PathBuf {
    let paths = fs::read_dir(sessions(world)).unwrap().map(|entry| entry.unwrap().path());
    { paths }.find(|path| path.extension().is_some_and(|end| end == "journal")).unwrap()
}

fn garbage(world: &World) {
    fs::write(journal(world), "garbage\n".repeat(100)).unwrap();
}

/// Damages the journal from its fifth record on.
fn cut(world: &World) {
    let text = fs::read_to_string(journal(world)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(journal(world), format!("{}\ngarbage\n", lines[..4].join("\n"))).unwrap();
}

fn gone(world: &World) {
    fs::remove_file(journal(world)).unwrap();
}

fn project_garbage(world: &World) {
    fs::write(world.state_file("project.journal"), "garbage\n".repeat(100)).unwrap();
}

fn project_gone(world: &World) {
    fs::remove_file(world.state_file("project.journal")).unwrap();
}

fn state_gone(world: &World) {
    fs::remove_dir_all(world.state()).unwrap();
}

fn failed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_damaged_session_goes_on_by_what_a_person_says_was_active() {
    for (damage, code) in [
        (garbage as fn(&World), "state-unreadable"),
        (cut, "state-unreadable"),
        (gone, "state-missing"),
        (state_gone, "state-missing"),
        (project_garbage, "state-unreadable"),
        (project_gone, "state-missing"),
    ] {
        for (said, edits) in [(&["--run", "careful"][..], false), (&["--no-run"], true)] {
            let world = lived();
            damage(&world);
            let text = denied(&world.call("s", "t3", "Read", read()), code);
            assert!(text.contains("`phasegate repair s`"), "{text}");
            let unsaid = failed(&world.in_terminal(&["repair", "s"]));
            assert!(unsaid.contains("say which skill was active"), "{unsaid}");
            let args = [&["repair", "s"], said].concat();
            let repaired = world.in_terminal(&args);
            assert_eq!(repaired.status.code(), Some(0), "{args:?}: {repaired:?}");
            assert!(passes(&world.call("s", "t4", "Read", read())), "{args:?}");
            let answer = world.call("s", "t5", "Edit", edit());
            assert_eq!(passes(&answer), edits, "{args:?}: {answer:?}");
            let verified: Value = serde_json::from_str(&world.run(&["--json", "audit", "verify"], 0)).unwrap();
            assert_eq!(verified["seals"].as_array().unwrap().len(), 1, "{verified}");
            assert!(world.run(&["audit", "verify"], 0).contains("a person repaired"));
        }
    }
}

#[test]
fn what_the_readable_part_shows_can_be_kept_and_begins_anew() {
    let world = lived();
    cut(&world);
    denied(&world.call("s", "t3", "Read", read()), "state-unreadable");
    let shown = world.in_terminal(&["repair"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("careful was active then, in block mode"), "{shown:?}");
    assert_eq!(world.in_terminal(&["repair", "--keep"]).status.code(), Some(0));
    denied(&world.call("s", "t4", "Edit", edit()), "not-done");
    world.call("s", "t5", "Read", read());
    world.ok("s", "t5", "Read", read());
    assert!(passes(&world.call("s", "t6", "Edit", edit())), "evidence is shown again");
    assert!(world.run(&["repair"], 0).contains("nothing is damaged"));
    let shown = world.run(&["audit", "show", "--session", "s"], 0);
    assert!(shown.contains("human sealed"), "{shown}");
}

#[test]
fn a_skill_that_does_not_exist_repairs_nothing() {
    let world = lived();
    garbage(&world);
    for said in [&["--run", "none"][..], &["--keep"]] {
        let refused = world.in_terminal(&[&["repair"], said].concat());
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
    denied(&world.call("s", "t3", "Read", read()), "state-unreadable");
}

#[test]
fn an_agent_repairs_nothing() {
    let world = lived();
    garbage(&world);
    let piped = world.phasegate(&["repair", "--no-run"]).output().unwrap();
    assert!(failed(&piped).contains("a person in a terminal"), "{piped:?}");
    let mut named = world.phasegate(&["repair", "--no-run"]);
    let named = named.env("CLAUDE_CODE_SESSION_ID", "any").output().unwrap();
    assert!(failed(&named).contains("it counts as the agent's"), "{named:?}");
    world.start("other");
    world.call("other", "o1", "Bash", json!({"command": "make"}));
    assert!(failed(&world.in_terminal(&["repair", "--no-run"])).contains("it counts as the agent's"));
    denied(&world.call("s", "t3", "Read", read()), "state-unreadable");
}

#[test]
fn what_was_set_aside_is_verified() {
    let world = lived();
    garbage(&world);
    assert_eq!(world.in_terminal(&["repair", "--no-run"]).status.code(), Some(0));
    let folder = sessions(&world);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let aside = { entries }.find(|path| path.to_string_lossy().contains(".damaged-1")).unwrap();
    fs::write(&aside, "other").unwrap();
    assert!(world.run(&["audit", "verify"], 1).contains("was changed"));
    fs::remove_file(&aside).unwrap();
    assert!(world.run(&["audit", "verify"], 1).contains("is gone"));
}

#[test]
fn a_session_whose_client_is_gone_can_be_ended_and_its_call_counts_no_longer() {
    let world = lived();
    world.call("s", "t3", "Write", json!({"file_path": "b", "content": ""}));
    world.start("other");
    world.call("other", "o1", "Bash", json!({"command": "make"}));
    let refused = failed(&world.phasegate(&["mode", "warn", "--session", "s"]).output().unwrap());
    assert!(refused.contains("`phasegate end other`"), "{refused}");
    assert!(failed(&world.phasegate(&["end", "other"]).output().unwrap()).contains("in a terminal"));
    assert!(failed(&world.in_terminal(&["end", "s"])).contains("open in session `other`"));
    assert_eq!(world.in_terminal(&["end", "other"]).status.code(), Some(0));
    world.run(&["mode", "warn", "--session", "s"], 0);
    assert!(world.run(&["audit", "verify"], 0).contains("everything fits"));
}
