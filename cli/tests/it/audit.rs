//! `phasegate audit`: the journal as people and programs read it.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

/// A session in which an edit came too early, and was right after a read.
pub(crate) fn lived(mode: &str) -> World {
    let world = World::guarded(mode);
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
    world.call("s", "t1", "Edit", edit());
    world.call("s", "t2", "Read", json!({"file_path": "a.rs"}));
    world.ok("s", "t2", "Read", json!({"file_path": "a.rs"}));
    world.call("s", "t3", "Edit", edit());
    world.ok("s", "t3", "Edit", edit());
    world.run(&["end"], 0);
    world
}

fn value(world: &World, args: &[&str], status: i32) -> Value {
    serde_json::from_str(&world.run(args, status)).unwrap()
}

/// The records of session `s`, as `audit show` gives them.
fn shown(world: &World) -> Vec<Value> {
    value(world, &["--json", "audit", "show"], 0).as_array().unwrap().clone()
}

#[test]
fn what_happened_is_shown_newest_last() {
    let world = lived("block");
    let records = shown(&world);
    let told: Vec<_> = records.iter().map(|record| (record["what"].as_str().unwrap(), &record["decision"])).collect();
    let (allow, deny, none) = (&json!("allow"), &json!("deny"), &Value::Null);
    assert!(told.contains(&("Edit a.rs", deny)) && told.contains(&("Edit a.rs", allow)), "{told:?}");
    assert!(told.contains(&("Read a.rs", allow)) && told.contains(&("Read ended ok", none)), "{told:?}");
    assert_eq!(told.last().unwrap(), &("command deactivate_skill", none));
    assert_eq!(records.last().unwrap()["subject"], "human");
    let text = world.run(&["audit", "show", "--session", "s"], 0);
    assert!(text.contains("-> deny [not-done]") && text.contains("careful: look -> write (by Edit)"), "{text}");
    let last = world.run(&["audit", "show", "--last", "1"], 0);
    assert!(
        last.contains("earlier records are left out") && last.contains("careful is finished in phase write"),
        "{last}"
    );
    assert!(!last.contains("Read"), "{last}");
}

#[test]
fn the_four_events_of_the_original_are_exported_with_fields_of_their_own() {
    let world = lived("block");
    let text = world.run(&["audit", "export", "--format", "jsonl"], 0);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<_> = lines.iter().map(|line| line["phase_event"]["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["activate_skill", "phase_violation", "phase_advance", "deactivate_skill"]);
    for line in &lines {
        assert_eq!(line["tool"], line["phase_event"]["event"], "{line}");
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
        assert_eq!((&line["session_id"], &line["phase_event"]["skill"]), (&json!("s"), &json!("careful")));
        assert_eq!(line["policy"].as_str().unwrap().len(), 64);
    }
    let violation = &lines[1]["phase_event"];
    assert_eq!(
        [&violation["tool"], &violation["code"], &violation["rule"], &violation["phase"], &violation["blocked"]],
        [&json!("Edit"), &json!("not-done"), &json!("forbidden"), &json!("look"), &json!(true)]
    );
    let advance = &lines[2]["phase_event"];
    assert_eq!([&advance["from"], &advance["phase"], &advance["triggered_by"]], ["look", "write", "Edit"]);
}

#[test]
fn the_audit_log_says_the_same_as_the_export() {
    let world = World::guarded("warn");
    world.write(".phasegate/config.yaml", "mode: warn\naudit_log: audit.jsonl\n");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.call("s", "t1", "Edit", edit());
    let log = fs::read_to_string(world.root().join("audit.jsonl")).unwrap();
    assert_eq!(log, world.run(&["audit", "export"], 0));
    assert_eq!(log.lines().count(), 2);
}

#[test]
fn a_log_that_cannot_be_written_or_would_wait_changes_no_answer() {
    for path in [".", "no/such/folder/log", "pipe"] {
        let world = World::guarded("block");
        let made = std::process::Command::new("mkfifo").arg(world.root().join("pipe")).status().unwrap();
        assert!(made.success());
        world.write(".phasegate/config.yaml", &format!("mode: block\naudit_log: {path}\n"));
        world.frame("s", "SessionStart", json!({"source": "startup"}));
        world.call("s", "t0", "Skill", json!({"skill": "careful"}));
        let output = world.call("s", "t1", "Edit", edit());
        crate::support::denied(&output, "not-done");
    }
}

#[test]
fn every_record_is_decided_again_to_the_same_bytes() {
    let world = lived("block");
    for record in shown(&world) {
        let seq = record["seq"].to_string();
        let why = value(&world, &["--json", "why", &seq], 0);
        assert_eq!(why["decision"].is_null(), record["decision"].is_null(), "{why}");
        assert_eq!(why["again"]["possible"], json!(!record["event"].is_null()), "{why}");
        if !record["event"].is_null() {
            assert_eq!(why["again"]["differs"], json!([]), "{why}");
        }
    }
}

#[test]
fn a_denial_is_explained_with_its_run_its_line_and_the_way_out() {
    let world = lived("block");
    let denied = shown(&world).into_iter().find(|record| record["decision"] == "deny").unwrap();
    let seq = denied["seq"].to_string();
    let text = world.run(&["why", &seq], 0);
    for says in [
        "event: Edit a.rs",
        "r1 careful in phase look, block mode; alone it says deny",
        "because: a following phase allows it and is not yet reachable (rules 3.2, line 3)",
        "missing: ok: Read",
        "checked: deciding it again gives the same answer and the same changes",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn of_a_tree_the_run_that_denied_is_named_and_a_held_stop_has_no_rule_of_calls() {
    let world = World::guarded("block");
    world.write(
        ".phasegate/skills/part.yaml",
        "skill: part\ndescription: D.\nmode: block\nunlisted: read_only\nphases:\n  \
         work: {allowed: [{writes: a.md}], done_when: {ok: {writes: a.md}}}\n",
    );
    world.write(
        ".phasegate/skills/whole.yaml",
        "skill: whole\ndescription: D.\nmode: block\nfinish: required\nphases: {one: {run: part}}\n",
    );
    world.start("s");
    let skill = json!({"skill": "whole"});
    world.call("s", "t1", "Skill", skill.clone());
    world.ok("s", "t1", "Skill", skill);
    let why_last = || {
        let seq = shown(&world).iter().rfind(|record| record["decision"] == "deny").unwrap()["seq"].to_string();
        (value(&world, &["--json", "why", &seq], 0), world.run(&["why", &seq], 0))
    };
    crate::support::denied(&world.call("s", "t2", "Write", json!({"file_path": "b.md", "content": "x"})), "unlisted");
    let (of_call, text) = why_last();
    let runs = of_call["runs"].as_array().unwrap();
    let said: Vec<(&Value, &Value)> = runs.iter().map(|run| (&run["skill"], &run["decision"]["effect"])).collect();
    assert_eq!(said, [(&json!("whole"), &Value::Null), (&json!("part"), &json!("deny"))], "{of_call}");
    assert!(text.contains("a part of r1; it says deny (no reachable phase lists it"), "{text}");
    world.frame("s", "Stop", json!({"stop_hook_active": false}));
    let (of_stop, text) = why_last();
    assert_eq!(of_stop["because"], "a skill that must be finished is not (rules 3.1, `finish: required`)");
    assert!(!text.contains("no reachable phase"), "{text}");
}

#[test]
fn a_record_that_engine_or_policy_would_decide_otherwise_is_told() {
    let world = lived("block");
    let denied = shown(&world).into_iter().find(|record| record["decision"] == "deny").unwrap();
    let seq = denied["seq"].to_string();
    let policies = world.state().join("compiled/policies");
    fs::remove_dir_all(policies).unwrap();
    let why = value(&world, &["--json", "why", &seq], 0);
    assert_eq!(why["again"]["possible"], false);
    assert!(why["again"]["why"].as_str().unwrap().contains("is gone"), "{why}");
}

#[test]
fn what_is_not_there_is_said() {
    let world = lived("block");
    for (args, says) in [
        (vec!["why", "999"], "no record 999"),
        (vec!["why", "1", "--session", "x"], "no session `x`"),
        (vec!["audit", "show", "--session", "x"], "no session `x`"),
        (vec!["audit", "export", "--session", "x"], "no session `x`"),
    ] {
        let output = world.phasegate(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{args:?}");
    }
}

#[test]
fn a_hook_and_a_replay_write_the_log_that_their_argument_names_too() {
    let world = World::guarded("block");
    world.write(".phasegate/config.yaml", "mode: block\naudit_log: one.jsonl\n");
    let frame = |event: &str, fields: Value| {
        let mut frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": event});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut hook = world.phasegate(&["hook", "claude-code", "--audit-log", "two.jsonl"]);
        hook.write_stdin(frame.to_string()).output().unwrap()
    };
    frame("SessionStart", json!({"source": "startup"}));
    frame("PreToolUse", json!({"tool_name": "Skill", "tool_input": {"skill": "careful"}, "tool_use_id": "t0"}));
    let read = |name: &str| fs::read_to_string(world.root().join(name)).unwrap();
    assert_eq!(read("one.jsonl").lines().count(), 1);
    assert_eq!(read("one.jsonl"), read("two.jsonl"));
    for log in ["one.jsonl", "two.jsonl"] {
        let input = json!({"file_path": log, "content": ""});
        let denial = frame("PreToolUse", json!({"tool_name": "Write", "tool_input": input, "tool_use_id": log}));
        crate::support::denied(&denial, "self-protection");
    }
    let line = json!({"event": "skill", "name": "careful", "by": "agent", "time": 5, "principal": "alice"}).to_string();
    let args = ["replay", "--project", ".", "--audit-log", "three.jsonl"];
    let output = world.phasegate(&args).write_stdin(line).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for part in [r#""timestamp":"1970-01-01T00:00:00.005Z""#, r#""principal":"alice""#] {
        assert!(read("three.jsonl").contains(part), "{}", read("three.jsonl"));
    }
}

#[test]
fn a_relay_writes_the_log_that_its_argument_names_with_its_folder() {
    let world = World::guarded("block");
    let client = json!({"name": "c", "version": "1"});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "activate_skill", "arguments": {"skill_name": "careful"}}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output =
        world.phasegate(&["mcp", "serve", "--audit-log", "logs/one.jsonl"]).write_stdin(text).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(world.root().join("logs/one.jsonl")).unwrap();
    assert!(log.contains("activate_skill: skill=careful"), "{log}");
}

#[test]
fn an_exported_transcript_is_decided_alike_in_a_replay() {
    let world = lived("block");
    let decisions = |records: &[Value], field: &str| -> Vec<Value> {
        let calls = records.iter().filter(|record| record["event"] == "tool_call");
        calls.map(|record| record[field].clone()).collect()
    };
    let output = world.phasegate(&["audit", "export", "--transcript"]).output().unwrap();
    let transcript = String::from_utf8(output.stdout).unwrap();
    let output = world.phasegate(&["replay"]).write_stdin(transcript.clone()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{transcript}{}", String::from_utf8_lossy(&output.stderr));
    let replayed: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(decisions(&replayed, "decision"), decisions(&shown(&world), "decision"));
    assert_eq!(decisions(&replayed, "decision"), ["allow", "deny", "allow", "allow"]);
}

#[test]
fn an_exported_transcript_says_what_the_files_were_that_a_phase_asks_for() {
    let world = World::guarded("block");
    world.write(
        ".phasegate/skills/note.yaml",
        "skill: note\ndescription: A note\nartifacts: {note: {path: [note.md], format: {last_line: END}}}\nphases:\n  write: \
         {produces: [note], leave: on_done}\n  end: {allowed: [{command: 'true'}]}\n",
    );
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.call("s", "t0", "Skill", json!({"skill": "note"}));
    world.ok("s", "t0", "Skill", json!({"skill": "note"}));
    let written = [("t1", "# A note\n\nto be done\n"), ("t2", "# A note\n\nEND\n")];
    for (id, text) in written {
        world.call("s", id, "Write", json!({"file_path": "note.md", "content": text}));
        world.write("note.md", text);
        world.ok("s", id, "Write", json!({"file_path": "note.md"}));
    }
    world.call("s", "t3", "Bash", json!({"command": "true"}));
    let output = world.phasegate(&["audit", "export", "--transcript"]).output().unwrap();
    let transcript = String::from_utf8(output.stdout).unwrap();
    let files = transcript.lines().filter(|line| line.contains("\"event\":\"file\"")).count();
    assert!(files >= 2, "{transcript}");
    let output = world.phasegate(&["replay"]).write_stdin(transcript.clone()).output().unwrap();
    let replayed = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(replayed.lines().last().unwrap()).unwrap();
    assert_eq!((&last["decision"], &last["phase"]), (&json!("allow"), &json!("end")), "{transcript}\n{replayed}");
}

#[test]
fn a_replay_refuses_an_invocation_of_a_skill_that_nobody_configured() {
    let world = World::guarded("block");
    let line = json!({"event": "skill", "name": "carefull", "by": "agent"}).to_string();
    let output = world.phasegate(&["replay"]).write_stdin(line).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("line 1: unknown skill `carefull`; the skills here are [careful]"), "{said}");
}

#[test]
fn what_is_too_long_to_keep_is_decided_again_all_the_same() {
    let world = lived("block");
    let long = "x".repeat(20_000);
    world.call("s", "t4", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t4", "Skill", json!({"skill": "careful"}));
    world.call("s", "t5", "Write", json!({"file_path": "a.rs", "content": long}));
    world.call("s", "t6", "Bash", json!({"command": format!("echo {long}")}));
    world.frame("s", "UserPromptSubmit", json!({"prompt": long}));
    let records = shown(&world);
    assert!(!fs::read_to_string(world.state_file("project.journal")).unwrap().contains(&long));
    for record in records.iter().rev().take(3) {
        let why = value(&world, &["--json", "why", &record["seq"].to_string()], 0);
        assert_eq!((&why["again"]["possible"], &why["again"]["differs"]), (&json!(true), &json!([])), "{why:#}");
    }
}
