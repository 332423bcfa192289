//! Approvals: of one run, and of a file's content where the condition names one.

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: gated
mode: block
phases:
  plan:
    allowed: [{tool: Write, writes: plan.md}]
    done_when: {ok: {tool: Write, writes: plan.md}}
  change:
    requires: {approved: plan, file: plan.md}
    allowed: [Edit]
";

fn write() -> Value {
    json!({"file_path": "plan.md", "content": "x"})
}

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

/// A session in a run whose plan is written.
fn planned(world: &World, session: &str) {
    world.start(session);
    world.call(session, "t0", "Skill", json!({"skill": "gated"}));
    world.ok(session, "t0", "Skill", json!({"skill": "gated"}));
    assert_eq!(reply(&world.call(session, "t1", "Write", write())), Reply::Silent);
    world.write("plan.md", "first");
    world.ok(session, "t1", "Write", write());
}

fn guarded() -> World {
    let world = World::unguarded();
    world.write(".phasegate/skills/gated.yaml", SKILL);
    world
}

fn error(world: &World, args: &[&str]) -> String {
    let output = world.phasegate(args).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn it_is_of_one_run_and_of_the_files_content() {
    let world = guarded();
    planned(&world, "one");
    let text = denied(&world.call("one", "t2", "Edit", edit()), "not-done");
    assert!(text.contains("/phasegate approve plan") && !text.contains("deactivate"), "{text}");
    let text = error(&world, &["approve", "plann"]);
    assert!(text.contains("names that wait: [plan]"), "{text}");
    assert!(world.run(&["approve", "plan"], 0).contains("plan is approved in the run of gated in session one"));
    world.write("plan.md", "second");
    assert!(denied(&world.call("one", "t3", "Edit", edit()), "not-done").contains("changed since"));
    assert!(world.run(&["approve"], 0).contains("plan (plan.md) is approved, and changed since"));
    world.run(&["approve", "plan"], 0);
    world.run(&["approve", "--revoke", "plan"], 0);
    denied(&world.call("one", "t4", "Edit", edit()), "not-done");
    world.run(&["approve", "plan"], 0);
    assert!(!matches!(reply(&world.call("one", "t5", "Edit", edit())), Reply::Denied(_)));
    planned(&world, "two");
    denied(&world.call("two", "t2", "Edit", edit()), "not-done");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

#[test]
fn it_is_given_where_it_is_waited_for() {
    let world = guarded();
    planned(&world, "one");
    world.start("two");
    // The session that was active last waits for nothing.
    assert!(world.run(&["approve"], 0).contains("plan (plan.md) waits for a person: gated in session one"));
    assert!(error(&world, &["approve", "plan", "--session", "two"]).contains("nothing waits"));
    assert!(world.run(&["approve", "plan"], 0).contains("session one"));
    world.run(&["approve", "--revoke", "plan"], 0);
    planned(&world, "three");
    let text = error(&world, &["approve", "plan"]);
    assert!(text.contains("2 sessions wait") && text.contains("--session ID"), "{text}");
    world.run(&["approve", "plan", "--session", "three"], 0);
    denied(&world.call("one", "t2", "Edit", edit()), "not-done");
    assert!(!matches!(reply(&world.call("three", "t2", "Edit", edit())), Reply::Denied(_)));
}

#[test]
fn nothing_is_approved_before_it_exists() {
    let world = guarded();
    world.start("one");
    world.call("one", "t0", "Skill", json!({"skill": "gated"}));
    assert!(error(&world, &["approve", "plan"]).contains("nothing waits"));
    planned(&world, "two");
    std::fs::remove_file(world.root().join("plan.md")).unwrap();
    assert!(error(&world, &["approve", "plan"]).contains("does not exist"));
}

#[test]
fn what_means_nothing_is_refused_in_plain_words() {
    let world = guarded();
    planned(&world, "one");
    assert!(error(&world, &["end", "nope"]).contains("unknown skill \"nope\""));
    assert!(error(&world, &["skip", "nope"]).contains("no live run has a phase `nope`"));
    world.run(&["approve", "plan"], 0);
    assert!(error(&world, &["approve", "plan"]).contains("`plan` is approved already"));
    assert!(!matches!(reply(&world.call("one", "t2", "Edit", edit())), Reply::Denied(_)));
    let revoked = world.phasegate(&["approve", "--revoke", "plan"]).output().unwrap();
    let note = String::from_utf8(revoked.stderr).unwrap();
    assert!(revoked.status.success() && note.contains("what it opened stays open"), "{note}");
    world.run(&["end", "gated"], 0);
    assert!(world.run(&["end"], 0).contains("no skill was active"));
}

#[test]
fn a_person_reads_that_it_is_waited_for_when_the_agent_stops_and_after_the_session() {
    let world = World::unguarded();
    world.write(".phasegate/skills/gated.yaml", &format!("finish: required{SKILL}    done_when: {{ok: Edit}}\n"));
    planned(&world, "one");
    let stopped = world.frame("one", "Stop", json!({"stop_hook_active": false}));
    let text = String::from_utf8(stopped.stdout).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let told = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(told.contains("skill \"gated\" waits for you") && told.contains("phasegate approve plan"), "{text}");
    assert!(answer.get("decision").is_none(), "{text}");
    world.frame("one", "SessionEnd", json!({"reason": "other"}));
    let status = world.run(&["status"], 0);
    let told = "if it is resumed, plan (plan.md) for gated waits for you; `phasegate approve plan --session one`";
    assert!(status.contains("one ended") && status.contains(told), "{status}");
}
