//! `phasegate confine`: what it keeps, what it says, and how it ends. The mechanism has tests of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test that can show nothing here says why")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::World;

/// Whether the kernel holds a read-only command here; a test that can show nothing says why.
fn holds(world: &World) -> bool {
    let output = world.phasegate(&["confine", "probe"]).output().unwrap();
    if output.status.code() != Some(0) {
        eprintln!("no level works here: {}", String::from_utf8_lossy(&output.stdout));
    }
    output.status.code() == Some(0)
}

#[test]
fn a_read_only_command_keeps_nothing_and_ends_as_it_ended() {
    let world = World::unguarded();
    if !holds(&world) {
        return;
    }
    let file = world.root().join("file");
    fs::write(&file, "before").unwrap();
    for (line, own) in [("true", 0), ("exit 3", 3), ("kill -KILL $$", 137)] {
        world.run(&["confine", "read-only", "--", "sh", "-c", line], own);
    }
    for (level, status) in [("overlay", 73), ("binds", 1), ("landlock", 1)] {
        let line = "{ echo after > file; } 2>/dev/null || exit 1";
        let args = ["confine", "read-only", "--level", level, "--", "bash", "-c", line];
        let output = world.phasegate(&args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(125) {
            eprintln!("{level} does not work here: {told}");
            continue;
        }
        assert_eq!(output.status.code(), Some(status), "{level}: {told}");
        assert_eq!(told.contains("not kept: M file"), level == "overlay", "{told}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    }
}

#[test]
fn json_has_the_commands_own_status() {
    let world = World::unguarded();
    let output = world
        .phasegate(&["--json", "confine", "read-only", "--level", "overlay", "--", "sh", "-c", "echo x > new"])
        .output()
        .unwrap();
    if output.status.code() == Some(125) {
        eprintln!("the overlay does not work here: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((output.status.code(), &told["status"]), (Some(73), &Value::from(0)));
    assert_eq!(told["changes"][0]["kind"], "added");
    assert!(told["changes"][0]["path"].as_str().unwrap().ends_with("/project/new"), "{told}");
}

#[test]
fn a_folder_that_is_named_keeps_changes() {
    let world = World::unguarded();
    if !holds(&world) {
        return;
    }
    fs::create_dir(world.root().join("out")).unwrap();
    world.run(&["confine", "read-only", "--writes", "out", "--", "sh", "-c", "echo x > out/new"], 0);
    assert_eq!(fs::read_to_string(world.root().join("out/new")).unwrap(), "x\n");
}

#[test]
fn what_cannot_be_confined_does_not_run() {
    let world = World::unguarded();
    let output = world.phasegate(&["confine", "protect", "--folder", "none", "--", "touch", "ran"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125));
    assert!(told.contains("none") && told.contains("nothing has run"), "{told}");
    assert!(!world.root().join("ran").exists());
    let output = world.phasegate(&["confine", "read-only", "--", "no-such-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(if holds(&world) { 127 } else { 125 }));
}

#[test]
fn a_protected_folder_holds_and_the_rest_does_not() {
    let world = World::guarded("block");
    let line = "touch free; echo x > .phasegate/config.yaml";
    let output = world.phasegate(&["confine", "protect", "--", "sh", "-c", line]).output().unwrap();
    if output.status.code() == Some(125) {
        eprintln!("protection does not work here: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    assert!(!output.status.success());
    assert!(world.root().join("free").exists());
    assert_eq!(fs::read_to_string(world.root().join(".phasegate/config.yaml")).unwrap(), "mode: block\n");
}

/// A server of MCP that answers one call by writing a file, and says what came of it.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if m["method"] == "tools/list":
        r = {"tools": [{"name": "write", "description": "d", "inputSchema": {"type": "object"}}]}
    if m["method"] == "tools/call":
        try:
            open("made", "w").write("x"); text = "written"
        except OSError as e:
            text = e.strerror
        r = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[test]
fn a_server_behind_the_relay_is_confined_like_any_command() {
    let world = World::unguarded();
    if !holds(&world) {
        return;
    }
    world.write("server.py", SERVER);
    let program = env!("CARGO_BIN_EXE_phasegate");
    for (held, says) in [(true, "Read-only file system"), (false, "written")] {
        let mut args = vec!["mcp", "proxy", "--"];
        args.extend(
            held.then_some([program, "confine", "read-only", "--level", "binds", "--with-parent", "--"])
                .into_iter()
                .flatten(),
        );
        args.extend(["python3", "server.py"]);
        let mut relay = Command::new(program);
        relay.args(args).current_dir(world.root()).env_clear().envs(world.variables());
        let mut relay = relay.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut answers = BufReader::new(relay.stdout.take().unwrap()).lines();
        let mut to = relay.stdin.take().unwrap();
        let client =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let mut last = String::new();
        for (id, (method, params)) in [
            ("initialize", client),
            ("tools/list", json!({})),
            ("tools/call", json!({"name": "write", "arguments": {}})),
        ]
        .into_iter()
        .enumerate()
        {
            writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
            last = answers.next().unwrap().unwrap();
        }
        drop(to);
        relay.wait().unwrap();
        assert!(last.contains(says), "{held}: {last}");
        assert_eq!(world.root().join("made").exists(), !held);
    }
}
