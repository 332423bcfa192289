//! Whole sessions through the hook, one process for each message.

use std::fs;

use crate::support::{Reply, SKILL, World, denied, reply};
use serde_json::{Value, json};

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

/// Begins a run of `careful`.
fn begin(world: &World, session: &str) {
    world.frame(session, "SessionStart", json!({"source": "startup"}));
    world.call(session, "t0", "Skill", json!({"skill": "careful"}));
}

fn phase(world: &World, session: &str) -> String {
    let status: Value = serde_json::from_str(&world.run(&["--json", "status", "--session", session], 0)).unwrap();
    status["current_phase"].as_str().unwrap_or_default().to_string()
}

#[test]
fn evidence_opens_the_next_phase_and_outlives_the_process() {
    let world = World::guarded("block");
    begin(&world, "s");
    denied(&world.call("s", "t1", "Edit", edit()), "not-done");
    assert_eq!(phase(&world, "s"), "look");
    world.call("s", "t2", "Read", json!({"file_path": "a.rs"}));
    denied(&world.call("s", "t3", "Edit", edit()), "not-done");
    world.ok("s", "t2", "Read", json!({"file_path": "a.rs"}));
    let entered = world.call("s", "t4", "Edit", edit());
    assert!(!matches!(reply(&entered), Reply::Denied(_)), "{entered:?}");
    assert_eq!(phase(&world, "s"), "write");
}

#[test]
fn sessions_of_one_project_do_not_see_each_other() {
    let world = World::guarded("block");
    begin(&world, "one");
    world.frame("two", "SessionStart", json!({"source": "startup"}));
    assert_eq!(reply(&world.call("two", "t1", "Edit", edit())), Reply::Silent);
    denied(&world.call("one", "t1", "Edit", edit()), "not-done");
}

#[test]
fn a_live_session_keeps_its_policy_until_a_person_accepts_another() {
    let world = World::guarded("block");
    begin(&world, "s");
    let other =
        SKILL.replace("[Edit, Write]", "[Edit, Write, Grep]").replace("allowed: [Read]", "allowed: [Read, Glob]");
    world.write(".phasegate/skills/careful.yaml", &other);
    assert!(!matches!(reply(&world.call("s", "t1", "Grep", json!({}))), Reply::Denied(_)));
    world.frame("s", "SessionStart", json!({"source": "resume"}));
    assert!(!matches!(reply(&world.call("s", "t2", "Grep", json!({}))), Reply::Denied(_)), "the run keeps its skill");
    world.run(&["reload"], 0);
    world.run(&["end", "--session", "s"], 0);
    world.run(&["start", "careful", "--session", "s"], 0);
    denied(&world.call("s", "t3", "Grep", json!({})), "not-done");
}

#[test]
fn a_config_that_is_gone_stays_in_force_and_is_forgotten_only_by_undoing_init() {
    let world = World::guarded("block");
    begin(&world, "s");
    fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    denied(&world.call("s", "t1", "Edit", edit()), "not-done");
    assert!(!matches!(reply(&world.call("new", "t1", "Read", json!({}))), Reply::Denied(_)));
    world.call("new", "t2", "Skill", json!({"skill": "careful"}));
    denied(&world.call("new", "t3", "Edit", edit()), "not-done");
    world.run(&["init", "claude-code", "--undo"], 0);
    assert_eq!(reply(&world.call("newer", "t1", "Read", json!({}))), Reply::Silent);
}

#[test]
fn a_journal_that_is_damaged_cut_or_gone_denies() {
    let world = World::guarded("block");
    begin(&world, "s");
    let path = world.state_file("project.journal");
    let sessions = path.parent().unwrap().join("sessions");
    let journal = fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    let begun = fs::read(&journal).unwrap();
    // That a call was let run need not be durable before it is answered: a crash of the machine may tear this record.
    assert!(!matches!(reply(&world.call("s", "t9", "Read", json!({"file_path": "a"}))), Reply::Denied(_)));
    let good = fs::read(&journal).unwrap();
    assert!(good.len() > begun.len());

    let mut bad = good.clone();
    let last = bad.len() - 10;
    bad[last] ^= 1;
    fs::write(&journal, &bad).unwrap();
    denied(&world.call("s", "t1", "Read", json!({})), "state-unreadable");

    fs::remove_file(&journal).unwrap();
    denied(&world.call("s", "t1", "Read", json!({})), "state-missing");

    // That the run began was answered as durable: no crash tears that record.
    fs::write(&journal, &begun[..begun.len() - 5]).unwrap();
    denied(&world.call("s", "t1", "Read", json!({})), "state-missing");

    fs::write(&journal, &good[..good.len() - 5]).unwrap();
    assert!(
        !matches!(reply(&world.call("s", "t1", "Read", json!({"file_path": "a"}))), Reply::Denied(_)),
        "a torn record"
    );
    assert!(fs::read_to_string(&journal).unwrap().contains("\"cut\":"));
}

#[test]
fn a_state_folder_that_cannot_be_written_denies() {
    let world = World::guarded("block");
    fs::write(world.state(), "a file where the folder should be").unwrap();
    match reply(&world.call("s", "t1", "Read", json!({}))) {
        Reply::Denied(text) => assert!(text.contains("state-"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_folder_for_the_state_calls_are_denied_and_the_end_of_a_turn_is_not_held_up() {
    let world = World::guarded("block");
    let send = |event: &str, fields: Value| {
        let mut frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": event});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut hook = world.phasegate(&["hook", "claude-code"]);
        hook.env_remove("HOME").env_remove("PHASEGATE_STATE_DIR").write_stdin(frame.to_string()).output().unwrap()
    };
    denied(&send("PreToolUse", json!({"tool_name": "Edit", "tool_input": {}})), "state-unreadable");
    denied(&send("UserPromptSubmit", json!({"prompt": "x"})), "state-unreadable");
    for (event, fields) in [("Stop", json!({})), ("SubagentStop", json!({"agent_id": "a", "agent_type": "x"}))] {
        match reply(&send(event, fields)) {
            Reply::Told(text) => assert!(text.contains("state-unreadable"), "{event}: {text}"),
            other => panic!("{event}: {other:?}"),
        }
    }
}

#[test]
fn a_command_counts_as_the_agents_while_a_program_of_its_runs() {
    let world = World::guarded("block");
    world.write(".phasegate/skills/careful.yaml", &format!("{}finish: person\nunlisted: allow\n", SKILL));
    begin(&world, "s");
    world.call("s", "t1", "Bash", json!({"command": "phasegate end"}));
    let refused = world.phasegate(&["end", "--session", "s"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("skill-not-left"));
    assert_eq!(world.phasegate(&["init", "--undo", "claude-code"]).output().unwrap().status.code(), Some(1));
    assert_eq!(world.phasegate(&["init", "--undo", "--user", "claude-code"]).output().unwrap().status.code(), Some(1));
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    world.run(&["end", "--session", "s"], 0);
}

#[test]
fn parallel_messages_of_one_session_are_all_recorded() {
    let world = World::guarded("block");
    begin(&world, "s");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let world = &world;
            scope.spawn(move || {
                let output = world.call("s", &format!("p{number}"), "Read", json!({"file_path": "a"}));
                assert!(!matches!(reply(&output), Reply::Denied(_)), "{output:?}");
            });
        }
    });
    let status: Value = serde_json::from_str(&world.run(&["--json", "status"], 0)).unwrap();
    assert_eq!(status["sessions"][0]["records"], 11, "{status}");
}

#[test]
fn nothing_but_the_reply_goes_out_and_logs_go_where_they_are_sent() {
    let world = World::guarded("block");
    let log = world.state().with_extension("log");
    let frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "Nope"}).to_string();
    let quiet = world.phasegate(&["hook", "claude-code"]).write_stdin(frame.clone()).output().unwrap();
    let logged =
        world.phasegate(&["hook", "claude-code"]).env("PHASEGATE_LOG_FILE", &log).write_stdin(frame).output().unwrap();
    assert_eq!((quiet.stdout, quiet.stderr), (logged.stdout, logged.stderr));
    assert!(fs::read_to_string(&log).unwrap().contains("event-unknown"));
}

#[test]
fn the_audit_log_of_the_original_is_written_where_the_settings_say() {
    let world = World::guarded("warn");
    world.write(".phasegate/config.yaml", "mode: warn\naudit_log: audit.jsonl\n");
    begin(&world, "s");
    world.call("s", "t1", "Edit", edit());
    let text = fs::read_to_string(world.root().join("audit.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<_> =
        lines.iter().map(|line| (line["tool"].as_str().unwrap(), line["success"].as_bool().unwrap())).collect();
    assert_eq!(events, [("activate_skill", true), ("phase_violation", false)]);
    assert_eq!(lines[0]["edit_summary"]["target"], "activate_skill: skill=careful phase=look");
}
