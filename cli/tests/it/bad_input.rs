//! Bad input: a denial with code and remedy in block mode, a warning in warn mode, and no answer in an unguarded
//! project.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Reply, SKILL, World, denied, reply};
use phasegate_core::Code;
use serde_json::json;

/// Every kind of input that cannot be decided, with the code that it must be answered with.
fn rows(world: &World) -> Vec<(&'static str, Vec<u8>, Code)> {
    let frame = |fields: serde_json::Value| {
        let mut frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "PreToolUse"});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        frame.to_string().into_bytes()
    };
    let whole = frame(json!({"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t"}));
    let mut not_utf8 = whole.clone();
    not_utf8[12] = 0xff;
    let huge = "x".repeat(50_000_000);
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let deep = format!(
        r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":"t","tool_input":{}}}"#,
        nested(100_000)
    );
    vec![
        ("empty", Vec::new(), Code::BadInput),
        ("truncated", whole[..whole.len() / 2].to_vec(), Code::BadInput),
        ("two messages", [whole.clone(), whole.clone()].concat(), Code::BadInput),
        ("huge, not JSON", huge.clone().into_bytes(), Code::InputTooLarge),
        (
            "huge",
            frame(json!({"tool_name": "Write", "tool_input": {"content": huge}, "tool_use_id": "t"})),
            Code::InputTooLarge,
        ),
        ("deeply nested", deep.into_bytes(), Code::BadInput),
        ("deeply nested, not a frame", nested(1_000_000).into_bytes(), Code::BadInput),
        ("not UTF-8", not_utf8, Code::BadInput),
        ("a list", b"[1, 2]".to_vec(), Code::BadInput),
        ("a text", b"\"PreToolUse\"".to_vec(), Code::BadInput),
        ("null", b"null".to_vec(), Code::BadInput),
        ("session of the wrong type", frame(json!({"session_id": 5})), Code::BadInput),
        ("event of the wrong type", frame(json!({"hook_event_name": ["PreToolUse"]})), Code::BadInput),
        (
            "tool of the wrong type",
            frame(json!({"tool_name": {}, "tool_input": {}, "tool_use_id": "t"})),
            Code::BadInput,
        ),
        ("no tool", frame(json!({"tool_input": {}, "tool_use_id": "t"})), Code::BadInput),
        ("no event", br#"{"session_id":"s"}"#.to_vec(), Code::HostUnknown),
        ("another host", br#"{"hook":"before_tool","tool":"edit"}"#.to_vec(), Code::HostUnknown),
        ("Goose", br#"{"event":"PreToolUse","session_id":"s","tool_name":"shell"}"#.to_vec(), Code::HostUnknown),
        (
            "Copilot CLI",
            br#"{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":"ls"}}"#.to_vec(),
            Code::HostUnknown,
        ),
        ("Cursor", frame(json!({"conversation_id": "c", "command": "ls"})), Code::HostUnknown),
        ("Codex CLI", frame(json!({"turn_id": "t", "model": "m", "tool_name": "Bash"})), Code::HostUnknown),
        (
            "no session",
            br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}"#.to_vec(),
            Code::BadInput,
        ),
        ("unknown event", frame(json!({"hook_event_name": "PreToolUsed"})), Code::EventUnknown),
    ]
}

fn told(output: &std::process::Output, code: Code, name: &str) {
    match reply(output) {
        Reply::Told(text) => assert!(text.contains(code.id()) && text.contains(&code.remedy()[1..]), "{name}: {text}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn in_block_mode_each_is_denied_with_its_code_and_a_way_out() {
    let world = World::guarded("block");
    for (name, bytes, code) in rows(&world) {
        let text = denied(&world.hook(bytes), code.id());
        assert!(text.contains(&code.remedy()[1..]), "{name}: {text}");
    }
}

#[test]
fn in_warn_mode_each_is_told() {
    let world = World::guarded("warn");
    for (name, bytes, code) in rows(&world) {
        told(&world.hook(bytes), code, name);
    }
}

#[test]
fn a_project_that_was_never_guarded_is_not_touched() {
    let world = World::unguarded();
    for (name, bytes, _) in rows(&world) {
        assert_eq!(reply(&world.hook(bytes)), Reply::Silent, "{name}");
    }
    assert_eq!(reply(&world.call("s", "t", "Edit", json!({}))), Reply::Silent);
    assert!(!world.state().exists());
    assert_eq!(std::fs::read_dir(world.home()).unwrap().count(), 0);
}

#[test]
fn a_broken_config_denies_unless_it_is_known_to_ask_for_no_more_than_warnings() {
    for (config, denies) in [
        ("mode: Block\n", true),
        ("mode: [\n", true),
        ("mode: block\nuse: [no-such-skill]\n", true),
        ("mode: warn\nuse: [no-such-skill]\n", false),
    ] {
        let world = World::guarded("block");
        world.write(".phasegate/config.yaml", config);
        world.start("s");
        let output = world.call("s", "t", "Read", json!({"file_path": "a"}));
        if denies {
            let text = denied(&output, "policy-invalid");
            assert!(text.contains(".phasegate/config.yaml"), "{text}");
        } else {
            told(&output, Code::PolicyInvalid, config);
        }
        world.write(".phasegate/config.yaml", "mode: block\n");
        assert_eq!(reply(&world.call("s", "t2", "Read", json!({"file_path": "a"}))), Reply::Silent, "mended: {config}");
    }
}

#[test]
fn a_tool_that_nobody_knows_is_judged_as_one_that_writes() {
    for (mode, denies) in [("block", true), ("warn", false)] {
        let world = World::guarded(mode);
        world.write(".phasegate/skills/careful.yaml", &format!("{}unlisted: read_only\n", SKILL));
        world.start("s");
        world.call("s", "t0", "Skill", json!({"skill": "careful"}));
        let output = world.call("s", "t1", "Frobnicate", json!({"x": 1}));
        match (reply(&output), denies) {
            (Reply::Denied(text), true) => assert!(text.contains("unlisted"), "{text}"),
            (Reply::Told(text), false) => assert!(text.contains("Frobnicate"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Runs the hook with a standard input that never ends.
fn hang(world: &World, milliseconds: &str) -> std::process::Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_phasegate"))
        .args(["hook", "claude-code"])
        .current_dir(world.root())
        .env_clear()
        .envs(world.variables())
        .env("PHASEGATE_DEADLINE_MS", milliseconds)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let began = Instant::now();
    let status = child.wait().unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "the answer came too late");
    drop(open);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    std::process::Output { status, stdout, stderr }
}

#[test]
fn when_the_deadline_passes_the_answer_is_there_all_the_same() {
    denied(&hang(&World::guarded("block"), "100"), "deadline");
    told(&hang(&World::guarded("warn"), "100"), Code::Deadline, "warn");
    assert_eq!(reply(&hang(&World::unguarded(), "100")), Reply::Silent);
}

#[test]
fn odd_arguments_and_unknown_platforms_never_open_the_guard() {
    let world = World::guarded("block");
    let frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "Nope"}).to_string();
    let odd = world.phasegate(&["hook", "claude-code", "--no-such", "x"]).write_stdin(frame.clone()).output().unwrap();
    denied(&odd, "event-unknown");
    let late = world.phasegate(&["--json", "hook", "claude-code"]).write_stdin(frame.clone()).output().unwrap();
    denied(&late, "event-unknown");
    for args in [&["hook", "no-such"][..], &["hook"], &["hook", "--no-such"], &["hooks", "claude-code"]] {
        let output = world.phasegate(args).write_stdin(frame.clone()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}
