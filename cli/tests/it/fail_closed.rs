//! Ways in which a project in block mode could be left open without a word: each is answered with a denial.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Reply, World, denied, reply};
use serde_json::{Value, json};

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

fn start(world: &World, session: &str) -> Output {
    world.frame(session, "SessionStart", json!({"source": "startup"}))
}

/// Begins a run of `careful` in session `s`.
fn begin(mode: &str) -> World {
    let world = World::guarded(mode);
    start(&world, "s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
    world
}

/// The journal of the session that has the most records.
fn journal(world: &World) -> PathBuf {
    let sessions = world.state_file("project.journal").with_file_name("sessions");
    let files = fs::read_dir(sessions).unwrap().map(|entry| entry.unwrap().path());
    files.max_by_key(|path| path.metadata().unwrap().len()).unwrap()
}

fn records(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

/// A world in warn mode with a run in block mode in session `s`, after session `two` has begun.
fn strict_run_in_a_warned_project() -> (World, PathBuf) {
    let world = World::guarded("warn");
    start(&world, "s");
    world.run(&["start", "careful", "--mode", "block", "--session", "s"], 0);
    let journal = journal(&world);
    start(&world, "two");
    (world, journal)
}

#[test]
fn the_start_of_another_session_does_not_lower_what_is_remembered_of_a_run() {
    let (world, _) = strict_run_in_a_warned_project();
    denied(&world.hook("no frame at all"), "bad-input");
    world.run(&["end", "--session", "s"], 0);
    start(&world, "three");
    assert!(matches!(reply(&world.hook("no frame at all")), Reply::Told(_)), "and it is lowered when the run is over");
}

#[test]
fn a_journal_that_cannot_be_read_or_locked_denies_also_where_only_warnings_are_remembered() {
    let (world, journal) = strict_run_in_a_warned_project();
    fs::write(world.state_file("guarded"), r#"{"mode":"warn"}"#).unwrap();
    let lock = File::open(&journal).unwrap();
    lock.lock().unwrap();
    let frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {}, "tool_use_id": "t2"});
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    denied(&hook.env("PHASEGATE_DEADLINE_MS", "400").write_stdin(frame.to_string()).output().unwrap(), "state-busy");
    drop(lock);

    let good = fs::read(&journal).unwrap();
    fs::write(&journal, [&good[..good.len() - 20], b"garbage\n"].concat()).unwrap();
    denied(&world.call("s", "t3", "Edit", edit()), "state-unreadable");
    fs::write(&journal, good).unwrap();
    denied(&world.call("s", "t4", "Edit", edit()), "not-done");
}

#[test]
fn a_mistake_in_a_config_denies_in_warn_mode_only_where_it_may_ask_for_block_mode() {
    // Nobody has accepted anything yet.
    let world = World::guarded("warn");
    world.run(&["init", "claude-code", "--no-user"], 0);
    for (number, config, denies) in [
        (0, "mode: Block\n", true),
        (1, "mode:\n  Block\n", true),
        (2, "mode: [block]\n", true),
        (3, "mode: 5\n", false),
        (4, "mode: ~\n", false),
        (5, "Mode: block\n", true),
        (6, "modus: block\n", true),
        (7, "mode: warn\nmode: block\n", true),
        (8, "mode: block\nuse: [no-such-skill]\n", true),
        (9, "mode: warn\nuse: [{skill: careful, mode: Block}]\n", true),
        (10, "mode: [\n", false),
        (11, "- mode\n", false),
        (12, "use: [no-such-skill]\n", false),
        (13, "mode: warn\nuse: [no-such-skill]\n", false),
        (14, "mode: warn\nlocked: perhaps\n", false),
        (15, "mode: warm\n", false),
        (16, "mode: blok\n", true),
    ] {
        world.write(".phasegate/config.yaml", config);
        let session = format!("s{number}");
        start(&world, &session);
        let output = world.call(&session, "t", "Edit", edit());
        match (reply(&output), denies) {
            (Reply::Denied(text), true) | (Reply::Told(text), false) => {
                assert!(text.contains("policy-invalid"), "{config}: {text}");
            }
            other => panic!("{config}: {other:?}"),
        }
    }
    world.write(".phasegate/config.yaml", "mode: warn\n");
    world.write(".phasegate/skills/other.yaml", "skill: other\nmode: Block\nphases: {a: {allowed: [Read]}}\n");
    start(&world, "skill");
    denied(&world.call("skill", "t", "Edit", edit()), "policy-invalid");
}

/// Sends a call from a folder outside the project, with this project variable.
fn call_from_elsewhere(world: &World, variable: Option<OsString>) -> Output {
    let frame = json!({"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": edit(), "tool_use_id": "t9"});
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.current_dir("/").env_remove("CLAUDE_PROJECT_DIR");
    if let Some(value) = variable {
        hook.env("CLAUDE_PROJECT_DIR", value);
    }
    hook.write_stdin(frame.to_string()).output().unwrap()
}

#[test]
fn a_project_variable_that_names_no_folder_denies() {
    let world = begin("block");
    for value in [OsString::new(), ".".into(), "project".into(), OsString::from_vec(b"/p\xff".to_vec())] {
        denied(&call_from_elsewhere(&world, Some(value)), "bad-input");
    }
    denied(&call_from_elsewhere(&world, Some(world.root().into())), "not-done");
}

#[test]
fn without_the_variable_a_session_belongs_to_the_project_it_began_in() {
    let world = begin("block");
    denied(&call_from_elsewhere(&world, None), "not-done");
}

#[test]
fn a_nearer_folder_without_a_config_does_not_hide_the_project() {
    let world = begin("block");
    let inner = world.root().join("inner");
    fs::create_dir_all(inner.join(".phasegate/skills/x")).unwrap();
    denied(&call_from_elsewhere(&world, Some(inner.into())), "not-done");
}

#[test]
fn compiled_policies_that_are_gone_or_changed_deny_until_the_session_starts_again() {
    let world = begin("block");
    let compiled = world.state().join("compiled");
    let path = fs::read_dir(compiled.join("policies")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"Glob\"", "\"Edit\"").replacen("\"Edit\"", "\"Read\"", 1)).unwrap();
    assert_ne!(fs::read_to_string(&path).unwrap(), text);
    denied(&world.call("s", "t1", "Edit", edit()), "policy-missing");
    fs::write(&path, &text).unwrap();
    denied(&world.call("s", "t2", "Edit", edit()), "not-done");

    fs::remove_dir_all(&compiled).unwrap();
    world.write(".phasegate/skills/careful.yaml", "skill: careful\nphases: {all: {allowed: [Read, Edit]}}\n");
    for id in ["t3", "t4", "t5"] {
        denied(&world.call("s", id, "Edit", edit()), "policy-missing");
    }
}

#[test]
fn a_stored_policy_that_was_changed_is_made_anew_at_the_next_start() {
    let world = begin("block");
    let folder = world.state().join("compiled/policies");
    let path = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"Edit\"", "\"Read\"", 1)).unwrap();
    start(&world, "two");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_command_is_the_agents_while_a_call_is_open_that_may_run_programs_and_the_refusal_names_it() {
    for (tool, input) in [
        ("mcp__shell__exec", json!({"cmd": "x"})),
        ("Bash", json!({"command": "make serve", "run_in_background": true})),
    ] {
        let world = World::guarded("block");
        let locked = format!("{}finish: person\nunlisted: allow\n", crate::support::SKILL);
        world.write(".phasegate/skills/careful.yaml", &locked);
        start(&world, "s");
        world.call("s", "t0", "Skill", json!({"skill": "careful"}));
        world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
        start(&world, "other");
        world.call("other", "t1", tool, input);
        let refused = world.phasegate(&["end", "--session", "s"]).output().unwrap();
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{tool}: {text}");
        let name = tool.rsplit("__").next().unwrap();
        for part in [name, "session `other`", " s, so the command", "or stop it", "`phasegate end other`"] {
            assert!(text.contains(part), "{tool}: no {part} in {text}");
        }
        assert!(!text.contains("ask the user"), "{text}");
        world.frame("other", "SessionEnd", json!({"reason": "other"}));
        world.run(&["end", "--session", "s"], 0);
    }
}

#[test]
fn a_journal_cut_back_to_before_an_activation_is_noticed() {
    for already in 0..4 {
        let world = World::guarded("block");
        start(&world, "s");
        for number in 0..already {
            world.call("s", &format!("q{number}"), "Read", json!({"file_path": "a"}));
        }
        let before = records(&journal(&world)).len();
        world.call("s", "t0", "Skill", json!({"skill": "careful"}));
        world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
        denied(&world.call("s", "t1", "Edit", edit()), "not-done");
        let path = journal(&world);
        let kept = records(&path)[..before].concat();
        fs::write(&path, kept).unwrap();
        denied(&world.call("s", "t2", "Edit", edit()), "state-missing");
    }
}

#[test]
fn a_config_that_was_emptied_is_accepted_by_nobody() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "lsp-refactor", "--mode", "block"], 0);
    start(&world, "one");
    world.write(".phasegate/config.yaml", "");
    let told = String::from_utf8(start(&world, "two").stdout).unwrap();
    assert!(told.contains("stay in force") && told.contains("block mode is gone"), "{told}");
    let refused = world.phasegate(&["reload"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("policy-missing"), "{refused:?}");
    world.write(".phasegate/config.yaml", "mode: warn\n");
    world.run(&["reload"], 0);
    start(&world, "three");
    assert_eq!(reply(&world.call("three", "t1", "Edit", edit())), Reply::Silent, "a person lowered the mode");
}

#[test]
fn a_project_whose_settings_start_the_guard_denies_where_config_and_state_are_both_removed() {
    for (mode, scope, denies) in
        [("block", "--no-user", true), ("warn", "--no-user", false), ("block", "--user", false)]
    {
        let world = begin(mode);
        world.run(&["init", "claude-code", scope], 0);
        fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
        fs::remove_dir_all(world.state()).unwrap();
        let answer = world.call("s", "t5", "Edit", edit());
        if denies {
            let text = denied(&answer, "policy-missing");
            assert!(text.contains("settings.json` starts the guard in block mode"), "{text}");
        } else {
            assert_eq!(reply(&answer), Reply::Silent, "{mode} {scope}");
        }
    }
}

#[test]
fn a_session_that_no_policy_could_be_used_for_is_known_by_its_name() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: blocked\n");
    denied(&world.call("without-policy", "t", "Edit", edit()), "policy-invalid");
    assert!(world.run(&["status"], 0).contains("without-policy"));
    let found = world.phasegate(&["doctor"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&found.stdout).contains("could not be read"));
}
