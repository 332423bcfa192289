//! Who gives a command, and which runs a session goes on with.

use std::process::{Command, Output, Stdio};

use crate::support::{Reply, World, denied, reply};
use serde_json::{Value, json};

const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})
}

/// A project in which session `one` has a live run of `careful`.
fn begun(mode: &str) -> World {
    let world = World::guarded(mode);
    start(&world, "one", "startup");
    world.call("one", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("one", "t0", "Skill", json!({"skill": "careful"}));
    world
}

fn start(world: &World, session: &str, source: &str) -> Output {
    world.frame(session, "SessionStart", json!({"source": source}))
}

/// Whether an edit of this session is stopped for want of evidence, as in the run of session `one`.
fn holds(world: &World, session: &str) -> bool {
    let answer = world.call(session, "t1", "Edit", edit());
    match reply(&answer) {
        Reply::Denied(_) => !denied(&answer, "not-done").is_empty(),
        Reply::Silent | Reply::Told(_) => false,
    }
}

/// A frame to a hook that the client started with these variables.
fn frame_with(world: &World, session: &str, event: &str, fields: Value, variables: &[(&str, &str)]) -> Output {
    let mut frame = json!({"session_id": session, "cwd": world.root(), "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.envs(variables.iter().copied()).write_stdin(frame.to_string()).output().unwrap()
}

fn refused(world: &World, args: &[&str], variables: &[(&str, &str)]) -> String {
    let output = world.phasegate(args).envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
    assert!(text.contains("command-refused") && output.stdout.is_empty(), "{args:?}: {text}");
    text
}

#[test]
fn a_person_skips_and_changes_the_mode() {
    let world = begun("block");
    assert!(world.run(&["mode", "warn", "careful"], 0).contains("careful is in warn mode"));
    assert!(matches!(reply(&world.call("one", "t1", "Edit", edit())), Reply::Told(_)));
    let skipped: Value = serde_json::from_str(&world.run(&["--json", "skip"], 0)).unwrap();
    assert_eq!(skipped["current_phase"], "write");
    world.run(&["skip"], 1);
}

#[test]
fn a_command_with_the_sessions_variable_is_the_agents() {
    let world = begun("block");
    let text = refused(&world, &["approve", "plan"], &[(SESSION, "one")]);
    assert!(text.contains(SESSION), "{text}");
    refused(&world, &["init", "--undo"], &[(SESSION, "one")]);
    // The agent of a session in a folder that nothing guards is no person either.
    refused(&world, &["approve", "plan"], &[(SESSION, "another")]);
    refused(&world, &["init", "--undo"], &[(SESSION, "another")]);
    let undone = world.phasegate(&["init", "--undo"]).env(SESSION, "").output().unwrap();
    assert!(undone.status.success(), "a variable without a value names no session");
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_below_a_program_of_any_session_is_the_agents() {
    let world = begun("block");
    world.install_program();
    let program = world.program();
    let taken_off = |shell: &mut Command| {
        shell.arg("-c").arg(format!("env -u {SESSION} '{}' approve plan; true", program.display()));
        let output = shell.env(SESSION, "another").stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let mut shell = Command::new("sh");
    shell.current_dir(world.root()).env_clear().envs(world.variables()).env("PATH", "/usr/bin:/bin");
    let text = taken_off(&mut shell);
    assert!(text.contains("counts as the agent's"), "{text}");
    // A client that keeps its state elsewhere is about another guard, unless only the command says so.
    for (home, refused) in [(std::path::PathBuf::from("/nowhere"), false), (world.home(), true)] {
        let mut outer = Command::new("sh");
        let own = format!("PHASEGATE_STATE_DIR='{}' HOME='{}'", world.state().display(), world.home().display());
        let inner = format!("env -u {SESSION} {own} '{}' approve nothing; true", program.display());
        outer.current_dir(world.root()).env_clear().envs(world.variables()).env("PATH", "/usr/bin:/bin");
        outer.env("PHASEGATE_STATE_DIR", "/nowhere").env("HOME", home).env(SESSION, "another").args(["-c", &inner]);
        let output = outer.stdin(Stdio::null()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains("the agent's"), refused, "{output:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_below_the_client_of_a_guarded_session_is_the_agents() {
    let world = begun("block");
    world.run(&["mode", "block"], 0);
    // From here on this test is the client.
    frame_with(&world, "one", "UserPromptSubmit", json!({"prompt": "go"}), &[(SESSION, "one")]);
    let text = refused(&world, &["approve", "plan"], &[]);
    assert!(text.contains("the client of session `one`"), "{text}");
    refused(&world, &["mode", "warn"], &[]);
    refused(&world, &["init", "--undo"], &[]);
    refused(&world, &["init", "--undo", "--user"], &[]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_below_another_one_is_its_child() {
    let world = begun("warn");
    frame_with(&world, "one", "UserPromptSubmit", json!({"prompt": "go"}), &[(SESSION, "one")]);
    // The shell stands for a client that a program of session `one` started.
    let hook = format!("{SESSION}=two '{}' hook claude-code; exit $?", env!("CARGO_BIN_EXE_phasegate"));
    let send = |event: &str| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &hook]).current_dir(world.root()).env_clear().envs(world.variables());
        let frame = json!({
            "session_id": "two", "cwd": world.root(), "hook_event_name": event, "source": "startup", "prompt": "go",
        });
        let told = assert_cmd::Command::from(shell).write_stdin(frame.to_string()).output().unwrap();
        String::from_utf8(told.stdout).unwrap()
    };
    assert_eq!(send("SessionStart"), "", "the prompt that follows has the text");
    let told = send("UserPromptSubmit");
    assert!(told.contains("skill careful, phase \\\"look\\\""), "a child goes on with all runs: {told}");
}

#[test]
fn a_person_begins_afresh() {
    let world = begun("block");
    assert_eq!(String::from_utf8(start(&world, "two", "startup").stdout).unwrap(), "");
    assert!(!holds(&world, "two"));
    assert!(holds(&world, "one"));
}

#[test]
fn what_an_open_call_may_have_started_goes_on_with_the_run() {
    let world = World::guarded("block");
    start(&world, "one", "startup");
    world.call("one", "t5", "Bash", json!({"command": "make all"}));
    world.call("one", "t0", "Skill", json!({"skill": "careful"}));
    start(&world, "two", "startup");
    assert!(holds(&world, "two"));
}

#[test]
fn forks_and_cleared_sessions_go_on_with_the_run_ended_or_not() {
    let world = begun("block");
    start(&world, "fork", "fork");
    let told = String::from_utf8(world.frame("fork", "UserPromptSubmit", json!({"prompt": "go"})).stdout).unwrap();
    assert!(told.contains("skill careful"), "the agent is told where it stands: {told}");
    assert!(holds(&world, "fork"));
    assert!(holds(&world, "no-start"), "an older client says nothing when it forks");
    let world = begun("block");
    world.frame("one", "SessionEnd", json!({"reason": "clear"}));
    start(&world, "clear", "clear");
    assert!(holds(&world, "clear"));
    start(&world, "new", "startup");
    assert!(!holds(&world, "new"));
}

#[test]
fn a_copy_goes_its_own_way() {
    let world = begun("block");
    start(&world, "fork", "fork");
    world.call("fork", "t2", "Read", json!({"file_path": "a.rs"}));
    world.ok("fork", "t2", "Read", json!({"file_path": "a.rs"}));
    assert!(!holds(&world, "fork"));
    assert!(holds(&world, "one"), "the evidence of a copy is its own");
}

#[test]
fn a_resumed_session_is_its_own() {
    let world = World::guarded("block");
    start(&world, "old", "startup");
    start(&world, "one", "startup");
    world.call("one", "t0", "Skill", json!({"skill": "careful"}));
    start(&world, "old", "resume");
    assert!(!holds(&world, "old"));
}

#[test]
fn a_call_that_a_killed_client_left_open_is_over_when_its_session_starts_again() {
    let world = begun("block");
    world.call("one", "t2", "Read", json!({"file_path": "a.rs"}));
    world.call("one", "t3", "Agent", json!({"prompt": "p", "run_in_background": true}));
    start(&world, "one", "resume");
    world.ok("one", "t2", "Read", json!({"file_path": "a.rs"}));
    assert!(holds(&world, "one"));
    let status: Value = serde_json::from_str(&world.run(&["--json", "status", "--session", "one"], 0)).unwrap();
    assert_eq!(status["current_phase"], "look");
}

fn prompt(world: &World, text: &str, variables: &[(&str, &str)]) -> Output {
    frame_with(world, "one", "UserPromptSubmit", json!({"prompt": text}), variables)
}

#[test]
fn an_exact_command_that_a_person_types_is_carried_out_and_told_to_both() {
    let world = begun("block");
    let terminal = [(ENTRYPOINT, "cli")];
    let answer: Value = serde_json::from_slice(&prompt(&world, "/phasegate mode warn", &terminal).stdout).unwrap();
    let told = "phasegate: the user set `careful` to warn mode";
    assert_eq!(answer["systemMessage"], told);
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.starts_with(told) && context.contains("mode warn"), "{context}");
    assert!(matches!(reply(&world.call("one", "t1", "Edit", edit())), Reply::Told(_)));
    denied(&prompt(&world, "/phasegate mode loose", &terminal), "command-invalid");
    assert_eq!(prompt(&world, "please /phasegate end", &terminal).stdout, b"");
}

#[test]
fn a_command_in_a_prompt_that_nobody_typed_is_refused() {
    let world = begun("block");
    let text = "/phasegate end";
    for variables in
        [&[][..], &[(ENTRYPOINT, "sdk-cli")], &[(ENTRYPOINT, "cli"), ("CLAUDE_CODE_SESSION_ATTENDED", "0")]]
    {
        denied(&prompt(&world, text, variables), "command-refused");
    }
    let fields = json!({"prompt": text, "agent_id": "a1"});
    denied(&frame_with(&world, "one", "UserPromptSubmit", fields, &[(ENTRYPOINT, "cli")]), "command-refused");
    // A call of another session may be typing.
    start(&world, "two", "startup");
    world.call("two", "t5", "Bash", json!({"command": "make all"}));
    denied(&prompt(&world, text, &[(ENTRYPOINT, "cli")]), "command-refused");
    assert!(holds(&world, "one"));
}

#[test]
fn a_background_program_that_is_over_is_open_no_more() {
    let world = begun("warn");
    let input = json!({"command": "serve", "run_in_background": true});
    world.call("one", "t5", "Bash", input.clone());
    let response = json!({"stdout": "", "interrupted": false, "backgroundTaskId": "b1"});
    let fields = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": "t5", "tool_response": response});
    world.frame("one", "PostToolUse", fields);
    assert!(refused(&world, &["approve", "plan"], &[]).contains("`Bash`"));
    let note =
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t5</tool-use-id>\n<status>completed</status>\n";
    prompt(&world, note, &[]);
    world.run(&["mode", "block"], 0);
}

#[test]
fn a_journal_that_is_damaged_or_gone_for_a_moment_makes_nobody_a_person() {
    let world = begun("block");
    let before = journals(&world);
    start(&world, "two", "startup");
    world.call("two", "t5", "Bash", json!({"command": "make all"}));
    let path = journals(&world).into_iter().find(|path| !before.contains(path)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[200] ^= 1;
    for damage in [Some(&flipped[..]), Some(&b"garbage"[..]), Some(&b""[..]), None] {
        match damage {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        for args in [&["approve", "x"][..], &["mode", "warn", "--session", "one"], &["gc"]] {
            refused(&world, args, &[]);
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert!(holds(&world, "one"));
}

/// The journals of the project's sessions.
fn journals(world: &World) -> Vec<std::path::PathBuf> {
    let folder = world.state_file("project.journal").with_file_name("sessions");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect()
}

/// A client that is started above guarded projects loads the user's hooks alone.
#[test]
fn a_skill_of_a_project_below_is_enforced_where_the_client_was_started_above() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    let above = world.root().parent().unwrap().to_path_buf();
    let hook = |event: &str, fields: Value| {
        let mut frame = json!({"session_id": "s", "cwd": above, "hook_event_name": event});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut hook = world.phasegate(&["hook", "claude-code"]);
        hook.env("CLAUDE_PROJECT_DIR", &above).write_stdin(frame.to_string()).output().unwrap()
    };
    let call = |id: &str, tool: &str, input: Value| {
        hook("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    };
    let edit = || json!({"file_path": world.root().join("a.rs"), "old_string": "a", "new_string": "b"});
    hook("SessionStart", json!({"source": "startup"}));
    assert_eq!(reply(&call("t1", "Edit", edit())), Reply::Silent);
    call("t2", "Skill", json!({"skill": "unknown"}));
    assert_eq!(reply(&call("t3", "Edit", edit())), Reply::Silent);
    call("t4", "Skill", json!({"skill": "careful"}));
    denied(&call("t5", "Edit", edit()), "not-done");
}
