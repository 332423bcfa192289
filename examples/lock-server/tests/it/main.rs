//! The example as a client meets it: a process, lines in, lines out.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test says what is wrong by failing")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const FILES: [&str; 3] = ["config.yaml", "skills/count-first.yaml", "rules/stock.cedar"];

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// The server in a copy of the example's project.
    fn start(folder: &Path) -> Self {
        let (source, project) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("project"), folder.join("project"));
        for file in FILES.map(|file| Path::new(".phasegate").join(file)) {
            std::fs::create_dir_all(project.join(&file).parent().unwrap()).unwrap();
            std::fs::copy(source.join(&file), project.join(&file)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_lock-server"));
        command.arg("alice").current_dir(&project).env("HOME", folder.join("home"));
        for (name, place) in [("STATE", "state"), ("CONFIG", "user"), ("MACHINE", "machine")] {
            command.env(format!("PHASEGATE_{name}_DIR"), folder.join(place));
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, line: &Value) -> Value {
        writeln!(self.input, "{line}").unwrap();
        self.read()
    }

    fn read(&mut self) -> Value {
        let mut answer = String::new();
        assert_ne!(self.output.read_line(&mut answer).unwrap(), 0, "the server is gone");
        serde_json::from_str(&answer).unwrap()
    }

    fn call(&mut self, tool: &str, input: &Value) -> Value {
        self.ask(&json!({"tool": tool, "input": input}))
    }

    /// The end of the input is the end of the server.
    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn each_denial_has_its_reason_in_the_answer_and_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path());
    let told = client.read();
    let add = |count: u64| json!({"name": "nails", "count": count});
    let nails = json!({"name": "nails"});
    assert_eq!(client.call("add_goods", &add(20)), json!({"answer": 20}));

    let early = client.call("drop_goods", &nails);
    assert_eq!((&early["denied"]["kind"], &early["denied"]["policy_id"]), (&json!("policy"), &json!("not-done")));
    assert!(early["text"].as_str().unwrap().contains("list_goods"), "{early}");
    let large = client.call("add_goods", &add(101));
    let rejected = json!({"kind": "rule_rejected", "rule_name": "small-steps", "rule_reason": "at most 100 at once"});
    assert_eq!(large["denied"], rejected);
    let unnamed = client.call("add_goods", &json!({"name": "", "count": 1}));
    assert_eq!(unnamed["denied"], json!({"kind": "no_rule_matched"}));
    let stale = client.ask(&json!({"tool": "list_goods", "version": "sha256:0"}));
    assert_eq!((&stale["denied"]["kind"], &stale["version"]), (&json!("rule_version_mismatch"), &told["version"]));

    // The version that the denial names is the one that admits.
    let told = client.ask(&json!({"tool": "list_goods", "version": stale["version"]}));
    assert_eq!(told, json!({"answer": {"nails": 20}}));
    assert_eq!(client.call("drop_goods", &nails), json!({"answer": 20}));
    assert_eq!(client.call("drop_goods", &nails), json!({"error": "there are none"}));
    assert_eq!(client.call("add_goods", &add(1)), json!({"answer": 1}));
    let spent = client.call("add_goods", &add(1));
    let budget = json!({"kind": "budget", "which": "additions", "limit": "2", "observed": "3", "resets": "session"});
    assert_eq!(spent["denied"], budget);
    client.end();

    let text = std::fs::read_to_string(folder.path().join("project/denials.jsonl")).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&Value> = events.iter().map(|event| &event["reason"]).collect();
    assert_eq!(told, [&early, &large, &unnamed, &stale, &spent].map(|answer| &answer["denied"]));
    for (number, event) in events.iter().enumerate() {
        assert_eq!((&event["caller"], &event["at"]), (&json!("alice"), &json!((number + 1).to_string())));
    }
}

#[test]
fn the_page_about_the_tool_lock_has_lines_of_this_server() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tool-lock.md")).unwrap();
    let (_, snippet) = page.split_once("```rust,ignore\n").unwrap();
    let (snippet, _) = snippet.split_once("```").unwrap();
    assert!(snippet.contains("ToolLock::new(guard"), "{snippet}");
    for line in snippet.lines() {
        assert!(include_str!("../../src/main.rs").contains(line.trim()), "{line}");
    }
}
