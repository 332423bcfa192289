//! Over standard input and output: whatever it lists can be called.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A client that answers every question of the server with an error.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_phasegate-test-server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, last: 0 };
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.ask("initialize", &about);
        client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to a request: `result` or `error`.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.tell(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        loop {
            let message = self.next();
            let id = message.get("id").cloned();
            match (id, message.get("method")) {
                (Some(id), Some(_)) => {
                    self.tell(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}));
                }
                (Some(id), None) if id == self.last => return message,
                _ => {}
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_tool_on_the_list_answers() {
    let mut client = Client::start();
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 30);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let answer = client.call(name, &json!({}));
        // Only revision 2026-07-28 knows a result that asks for input.
        assert_eq!(answer.get("error").is_some(), name == "ask_input", "{name}: {answer}");
    }
}

#[test]
fn the_document_is_edited_and_tested() {
    let mut client = Client::start();
    assert_eq!(client.call("run_tests", &json!({}))["result"]["isError"], true);
    let edit = json!({"old": "failing", "new": "passing"});
    assert_eq!(client.call("preview_edit", &edit)["result"]["isError"], false);
    assert_eq!(client.call("run_tests", &json!({}))["result"]["isError"], true);
    client.call("apply_edit", &edit);
    assert_eq!(client.call("run_tests", &json!({}))["result"]["isError"], false);
}

#[test]
fn methods_nobody_knows_come_back_or_are_refused() {
    let mut client = Client::start();
    let answer = client.ask("test/anything", &json!({"a": [1, null]}));
    assert_eq!(answer["result"], json!({"method": "test/anything", "params": {"a": [1, null]}}));
    assert_eq!(client.ask("other/thing", &json!({}))["error"]["code"], -32601);
    client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/test/x", "params": {"b": 1}}));
    assert_eq!(client.next(), json!({"jsonrpc": "2.0", "method": "notifications/test/x", "params": {"b": 1}}));
}

#[test]
fn a_list_comes_in_pages_where_the_client_wants_them() {
    let mut client = Client::start();
    let whole = client.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len();
    let (mut cursor, mut seen) = (json!("from-0"), 0);
    while cursor.is_string() {
        let page = client.ask("tools/list", &json!({"cursor": cursor}));
        seen += page["result"]["tools"].as_array().unwrap().len();
        cursor = page["result"]["nextCursor"].clone();
    }
    assert_eq!(seen, whole);
    assert_eq!(client.ask("tools/list", &json!({"cursor": "other"}))["error"]["code"], -32602);
}
