//! A workflow of the project: it outlives sessions, its tasks belong to one session, and missing state never means that no
//! workflow is active.

use std::process::{Command, Output};

use crate::support::{Reply, World, denied, reply};
use serde_json::{Value, json};

const FEATURE: &str = "skill: feature
description: A list of tasks, each task, a note.
scope: project
mode: block
artifacts: {tasks: {path: [plan.json]}}
phases:
  list: {produces: [tasks]}
  execute: {requires: {artifact: tasks}, run: {each: tasks, at: /tasks, skill: one-task}}
  note: {allowed: [{writes: note.md}], done_when: {ok: {writes: note.md}}}
";
const ONE_TASK: &str = "skill: one-task
description: One task.
mode: block
inputs: {id: 'T[0-9]+'}
phases:
  work: {allowed: [{writes: 'src/${id}.rs'}], done_when: {ok: {writes: 'src/${id}.rs'}}, leave: on_done}
";
const PLAN: &str = r#"{"tasks": [{"id": "T1"}, {"id": "T2"}, {"id": "T3"}]}"#;

fn file(path: &str) -> Value {
    json!({"file_path": path, "content": "x"})
}

/// A project in which session `one` has begun the workflow, and written the list of tasks.
fn begun() -> World {
    let world = World::guarded("block");
    world.write(".phasegate/skills/feature.yaml", FEATURE);
    world.write(".phasegate/skills/one-task.yaml", ONE_TASK);
    world.start("one");
    assert_eq!(reply(&world.call("one", "t0", "Write", file("note.md"))), Reply::Silent, "no workflow is active");
    world.call("one", "t1", "Skill", json!({"skill": "feature"}));
    world.ok("one", "t1", "Skill", json!({"skill": "feature"}));
    done(&world, "one", "t2", "plan.json", PLAN);
    world
}

/// A file is written, and the call succeeds.
fn done(world: &World, session: &str, id: &str, path: &str, content: &str) {
    let answer = world.call(session, id, "Write", file(path));
    assert!(!matches!(reply(&answer), Reply::Denied(_)), "{path}: {answer:?}");
    world.write(path, content);
    world.ok(session, id, "Write", file(path));
}

fn is_denied(world: &World, session: &str, id: &str, path: &str, code: &str) -> String {
    denied(&world.call(session, id, "Write", file(path)), code)
}

fn start(world: &World, session: &str, source: &str) {
    world.frame(session, "SessionStart", json!({"source": source}));
}

#[test]
fn the_tasks_belong_to_the_session_that_works_on_them() {
    let world = begun();
    done(&world, "one", "t3", "src/T1.rs", "x");
    world.start("two");
    let told = world.frame("two", "UserPromptSubmit", json!({"prompt": "go on"}));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("Session `one` works on it"), "{told}");
    let text = is_denied(&world, "two", "t1", "src/T2.rs", "held-elsewhere");
    assert!(text.contains("session `one` works on skill"), "{text}");
    assert_eq!(reply(&world.call("two", "t2", "Read", json!({"file_path": "plan.json"}))), Reply::Silent);
    let status = world.run(&["status"], 0);
    assert!(status.contains("session one works on its parts; others may only read"), "{status}");
    start(&world, "fork", "fork");
    is_denied(&world, "fork", "t1", "src/T2.rs", "held-elsewhere");
    done(&world, "one", "t4", "src/T2.rs", "x");
    // The session ends, and another goes on where it stood; no person is needed.
    world.frame("one", "SessionEnd", json!({"reason": "other"}));
    is_denied(&world, "two", "t3", "src/T2.rs", "unlisted");
    done(&world, "two", "t4", "src/T3.rs", "x");
    start(&world, "one", "resume");
    done(&world, "one", "t5", "note.md", "x");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

#[test]
fn a_run_that_two_sessions_worked_on_is_told_as_a_whole() {
    let world = begun();
    world.frame("one", "SessionEnd", json!({"reason": "other"}));
    world.start("two");
    for (id, task) in [("t1", "T1"), ("t2", "T2"), ("t3", "T3")] {
        done(&world, "two", id, &format!("src/{task}.rs"), "x");
    }
    for session in ["one", "two"] {
        let told = world.run(&["status", "history", "feature", "--session", session], 0);
        let lines: Vec<String> =
            told.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines, ["completed list", "completed execute", "in_progress note"], "{session}");
    }
    done(&world, "two", "t4", "note.md", "x");
    world.run(&["end", "feature"], 0);
    let state: Value = serde_json::from_str(&world.run(&["status", "history", "feature", "--json"], 0)).unwrap();
    let history = ["INITIALIZED", "PHASE_list", "PHASE_execute", "PHASE_note", "COMPLETED"];
    assert_eq!(state["fsm"]["history"], json!(history));
    assert_eq!(
        (&state["fsm"]["skipped_phases"], &state["memory_files"]),
        (&json!([]), &json!([])),
        "what the skill itself makes is its product"
    );
    assert!(state["created_at"].is_string(), "{state}");
}

#[test]
fn a_session_that_was_taken_over_comes_back_to_read() {
    let world = begun();
    done(&world, "one", "t3", "src/T1.rs", "x");
    world.frame("one", "SessionEnd", json!({"reason": "other"}));
    world.start("two");
    done(&world, "two", "t1", "src/T2.rs", "x");
    start(&world, "one", "resume");
    is_denied(&world, "one", "t4", "src/T3.rs", "held-elsewhere");
    world.run(&["end", "two"], 0);
    done(&world, "one", "t5", "src/T3.rs", "x");
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_whose_client_is_gone_holds_nothing() {
    let world = begun();
    // The shell stands for a client, which is gone after its message.
    let send = |event: &str, fields: Value| -> Output {
        let hook =
            format!("CLAUDE_CODE_SESSION_ID=lost '{}' hook claude-code; exit $?", env!("CARGO_BIN_EXE_phasegate"));
        let mut frame = json!({"session_id": "lost", "cwd": world.root(), "hook_event_name": event});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &hook]).current_dir(world.root()).env_clear().envs(world.variables());
        assert_cmd::Command::from(shell).write_stdin(frame.to_string()).output().unwrap()
    };
    send("SessionStart", json!({"source": "startup"}));
    let call = json!({"tool_name": "Write", "tool_input": file("src/T1.rs"), "tool_use_id": "l1"});
    assert!(matches!(reply(&send("PreToolUse", call)), Reply::Silent | Reply::Told(_)));
    let status = world.run(&["status"], 0);
    assert!(status.contains("session lost works on its parts"), "{status}");
    done(&world, "one", "t3", "src/T2.rs", "x");
    assert!(world.run(&["status"], 0).contains("session one works on its parts"));
    done(&world, "one", "t4", "src/T1.rs", "x");
    // What was found out of the lost session is recorded: the call can be decided again.
    let why: Value = serde_json::from_str(&world.run(&["--json", "why", "8", "--session", "one"], 0)).unwrap();
    assert!(why["facts"].to_string().contains("session"), "{why}");
    assert_eq!(why["again"]["differs"], json!([]), "{why}");
}

#[test]
fn it_outlives_clear_and_restart() {
    let world = begun();
    world.frame("one", "SessionEnd", json!({"reason": "clear"}));
    start(&world, "cleared", "clear");
    is_denied(&world, "cleared", "t1", "note.md", "not-done");
    done(&world, "cleared", "t2", "src/T1.rs", "x");
    world.frame("cleared", "SessionEnd", json!({"reason": "other"}));
    // Nothing runs any more; the next day somebody begins anew.
    world.start("morning");
    is_denied(&world, "morning", "t1", "note.md", "unlisted");
    is_denied(&world, "morning", "t2", "src/T1.rs", "unlisted");
    done(&world, "morning", "t3", "src/T2.rs", "x");
    done(&world, "morning", "t4", "src/T3.rs", "x");
    done(&world, "morning", "t5", "note.md", "x");
    // That it is over is recorded, and found again.
    world.start("evening");
    done(&world, "evening", "t1", "anything.rs", "x");
    world.frame("evening", "SessionEnd", json!({"reason": "other"}));
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

#[test]
fn state_that_is_deleted_or_damaged_denies() {
    let read = || json!({"file_path": "plan.json"});
    for damage in ["gone", "empty", "flipped", "cut"] {
        let world = begun();
        done(&world, "one", "t3", "src/T1.rs", "x");
        world.start("two");
        let path = world.state_file("project.journal");
        let whole = std::fs::read(&path).unwrap();
        match damage {
            "gone" => std::fs::remove_file(&path).unwrap(),
            "empty" => std::fs::write(&path, b"").unwrap(),
            "flipped" => {
                let mut flipped = whole.clone();
                let middle = flipped.len() / 2;
                flipped[middle] ^= 1;
                std::fs::write(&path, flipped).unwrap();
            }
            _ => std::fs::write(&path, &whole[..whole.len() / 2]).unwrap(),
        }
        start(&world, "three", "startup");
        for session in ["one", "two", "three"] {
            for (id, tool, input) in [("x1", "Write", file("anything.rs")), ("x2", "Read", read())] {
                let answer = world.call(session, id, tool, input);
                let Reply::Denied(text) = reply(&answer) else { panic!("{damage}, {session}: {answer:?}") };
                assert!(text.contains("state-"), "{damage}, {session}: {text}");
            }
        }
        // What is put back goes on where it stood.
        std::fs::write(&path, &whole).unwrap();
        is_denied(&world, "one", "t4", "note.md", "unlisted");
    }
}

#[test]
fn all_state_that_is_gone_denies_what_goes_on() {
    let world = begun();
    world.start("two");
    std::fs::remove_dir_all(world.state()).unwrap();
    for session in ["one", "two", "never-seen"] {
        let text = denied(&world.call(session, "x1", "Write", file("anything.rs")), "state-missing");
        assert!(text.contains("repair"), "{text}");
    }
}

#[test]
fn a_skill_with_values_is_in_force_for_the_project() {
    let world = begun();
    world.run(&["end", "feature", "--session", "one"], 0);
    let refused = world.phasegate(&["start", "one-task"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("inputs-missing"), "{refused:?}");
    let told = world.run(&["start", "one-task", "id=T7"], 0);
    assert!(told.contains("one-task (id=T7) is in force in this project"), "{told}");
    assert!(world.run(&["status"], 0).contains("one-task (id=T7) is in force for every session"));
    is_denied(&world, "one", "t3", "src/T8.rs", "unlisted");
    world.start("two");
    is_denied(&world, "two", "t1", "src/T8.rs", "unlisted");
    world.run(&["start", "one-task", "id=T8"], 0);
    is_denied(&world, "two", "t2", "src/T7.rs", "unlisted");
    done(&world, "two", "t3", "src/T8.rs", "x");
    let config = world.root().join(".phasegate/skills/one-task.yaml");
    std::fs::write(&config, ONE_TASK.replace("'T[0-9]+'", "'U[0-9]+'")).unwrap();
    world.start("three");
    is_denied(&world, "three", "t1", "src/T9.rs", "unlisted");
    std::fs::write(&config, ONE_TASK).unwrap();
    world.run(&["reload"], 0);
    world.run(&["end", "one-task"], 0);
    done(&world, "one", "t4", "anything.rs", "x");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

#[test]
fn two_calls_at_the_same_moment_have_one_order_and_no_move_is_lost() {
    const ROUNDS: usize = 6;
    let world = World::guarded("block");
    let phase = |at: usize| format!("  p{at}: {{allowed: [{{skill: s{at}}}]}}\n");
    let phases: String = (0..=2 * ROUNDS).map(phase).collect();
    let text =
        format!("skill: steps\ndescription: In order.\nscope: project\nmode: block\nunlisted: deny\nphases:\n{phases}");
    world.write(".phasegate/skills/steps.yaml", &text);
    world.start("one");
    world.start("two");
    world.call("one", "t0", "Skill", json!({"skill": "steps"}));
    world.ok("one", "t0", "Skill", json!({"skill": "steps"}));
    let mut moves = Vec::new();
    for round in 0..ROUNDS {
        let barrier = std::sync::Barrier::new(2);
        let call = |session: &str, at: usize| {
            barrier.wait();
            let answer = world.call(session, &format!("c{at}"), "Skill", json!({"skill": format!("s{at}")}));
            !matches!(reply(&answer), Reply::Denied(_))
        };
        let (first, second) = (2 * round + 1, 2 * round + 2);
        let (earlier, later) = std::thread::scope(|scope| {
            let earlier = scope.spawn(|| call("one", first));
            let later = scope.spawn(|| call("two", second));
            (earlier.join().unwrap(), later.join().unwrap())
        });
        // The earlier step is denied where the later one came first; the later one is never.
        assert!(later, "round {round}");
        moves.extend(earlier.then(|| format!("p{first}")));
        moves.push(format!("p{second}"));
        let status: Value = serde_json::from_str(&world.run(&["--json", "status", "--session", "one"], 0)).unwrap();
        assert_eq!(status["current_phase"], format!("p{second}"), "round {round}");
    }
    let journal = std::fs::read_to_string(world.state_file("project.journal")).unwrap();
    let entered = journal.match_indices("\"phase_entered\"").count();
    assert_eq!(entered, moves.len(), "each call that passed moved the run once: {moves:?}");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}
