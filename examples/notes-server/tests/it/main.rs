//! The example as a client meets it: two processes that differ in two lines.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test says what is wrong by failing")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

const GUARDED: &str = env!("CARGO_BIN_EXE_notes-server");
const PLAIN: &str = env!("CARGO_BIN_EXE_plain");

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// The server in a copy of the example's project.
    fn start(program: &str, folder: &Path) -> Self {
        let skills = folder.join("project/.phasegate/skills");
        std::fs::create_dir_all(&skills).unwrap();
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("project/.phasegate");
        for file in ["config.yaml", "skills/tidy-notes.yaml"] {
            std::fs::copy(project.join(file), folder.join("project/.phasegate").join(file)).unwrap();
        }
        let mut command = Command::new(program);
        command.current_dir(folder.join("project")).env("HOME", folder.join("home"));
        for (name, place) in [("STATE", "state"), ("CONFIG", "user"), ("MACHINE", "machine")] {
            command.env(format!("PHASEGATE_{name}_DIR"), folder.join(place));
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, last: 0 };
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.ask("initialize", &about);
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.last {
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn note() -> Value {
    json!({"title": "milk", "text": "buy milk"})
}

#[test]
fn a_forbidden_call_is_denied_and_after_the_evidence_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(GUARDED, folder.path());
    let written = folder.path().join("project/notes/milk.txt");
    assert_eq!(client.call("activate_skill", &json!({"skill_name": "tidy-notes"}))["isError"], Value::Null);

    let denied = client.call("write_note", &note());
    assert_eq!((&denied["isError"], &denied["structuredContent"]["code"]), (&json!(true), &json!("not-done")));
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Now: ") && text.contains("search_notes"), "{text}");
    assert!(!written.exists());

    assert_eq!(client.call("search_notes", &json!({"words": "milk"}))["isError"], json!(false));
    assert_eq!(client.call("write_note", &note())["isError"], json!(false));
    assert_eq!(std::fs::read_to_string(written).unwrap(), "buy milk");
    let phase = client.call("get_skill_phase", &json!({}));
    assert_eq!(phase["structuredContent"]["current_phase"], "change");
}

#[test]
fn a_failed_call_is_no_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(GUARDED, folder.path());
    client.call("activate_skill", &json!({"skill_name": "tidy-notes"}));
    assert_eq!(client.call("read_note", &json!({"title": "../milk"}))["isError"], json!(true));
    assert_eq!(client.call("write_note", &note())["structuredContent"]["code"], json!("not-done"));
}

#[test]
fn the_same_server_without_a_guard_does_what_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(PLAIN, folder.path());
    assert_eq!(client.tools(), ["delete_note", "list_notes", "read_note", "search_notes", "write_note"]);
    assert_eq!(client.call("write_note", &note())["isError"], json!(false));
    assert!(folder.path().join("project/notes/milk.txt").exists());
    let mut guarded = Client::start(GUARDED, folder.path());
    assert_eq!(guarded.tools().len(), 10);
}

#[test]
fn the_two_programs_differ_in_two_lines() {
    let (plain, guarded) = (include_str!("../../src/bin/plain.rs"), include_str!("../../src/main.rs"));
    let diff = TextDiff::from_lines(plain, guarded);
    let code = diff.iter_all_changes().filter(|change| !change.value().starts_with("//!"));
    let new: Vec<&str> = code.filter(|change| change.tag() == ChangeTag::Insert).map(|change| change.value()).collect();
    assert_eq!(new.len(), 2, "{new:?}");
}
