//! Guarded over HTTP: whose phase a call is judged by.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// The program in a project that guards it by a shipped skill.
struct Server {
    child: Child,
    host: String,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(stateless: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".phasegate")).unwrap();
        // What the server says of its tools is believed: `echo` only reads, so that no phase need list it.
        let config = "use: [lsp-refactor]\nmode: block\nmcp:\n  servers:\n    lsp: { trust_annotations: true }\n";
        std::fs::write(project.join(".phasegate/config.yaml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasegate-test-server"));
        command.args(["--listen", "127.0.0.1:0", "--guarded", "lsp"]).args(stateless.then_some("--stateless"));
        command.current_dir(project).env("HOME", folder.path().join("home"));
        for (name, place) in [("STATE", "state"), ("CONFIG", "user"), ("MACHINE", "machine")] {
            command.env(format!("PHASEGATE_{name}_DIR"), folder.path().join(place));
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let host = url.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self { child, host, _folder: folder }
    }

    /// Sends a message with these headers; the head of the answer, and the message in its body.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (String, Value) {
        let body = message.to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.host,
            body.len()
        );
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "{request}\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        // Plain, or in the one event of a stream that has data, and perhaps in a chunk.
        let text = body.find("{\"").map(|at| &body[at..=body.rfind('}').unwrap()]);
        (head.to_owned(), text.map(|text| serde_json::from_str(text).unwrap()).unwrap_or_default())
    }

    /// A call of revision 2026-07-28, which has no session.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        self.post(&headers, &message).1["result"].clone()
    }

    /// Activates the skill; the handle of the session that begins with it.
    fn activate(&self) -> String {
        let answer = self.call("activate_skill", &json!({"skill_name": "lsp-refactor"}));
        let handle = answer["structuredContent"]["session"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(answer["_meta"]["dev.phasegate/session"], handle);
        handle.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn edit(handle: &str) -> Value {
    json!({"old": "hello", "new": "hello", "phasegate_session": handle})
}

#[test]
fn a_call_is_judged_in_the_session_of_its_handle() {
    let server = Server::start(true);
    let (one, other) = (server.activate(), server.activate());
    assert_ne!(one, other);
    let code = |arguments: &Value| server.call("apply_edit", arguments)["structuredContent"]["code"].clone();
    assert_eq!(code(&edit(&one)), "not-done");
    // A client without a handle is in no skill, and an invalid handle gives no access.
    assert_eq!(code(&json!({"old": "hello", "new": "hello"})), Value::Null);
    assert_eq!(code(&edit("0123")), "bad-input");
    // What was seen in one session proves nothing in the other.
    for tool in ["blast_radius", "find_references", "get_diagnostics"] {
        assert_eq!(server.call(tool, &json!({"phasegate_session": one}))["isError"], false, "{tool}");
    }
    let phase = |handle: &str| {
        let answer = server.call("get_skill_phase", &json!({"phasegate_session": handle}));
        answer["structuredContent"]["current_phase"].clone()
    };
    assert_eq!(server.call("preview_edit", &edit(&one))["isError"], false);
    assert_eq!((phase(&one), phase(&other)), (json!("speculative_preview"), json!("blast_radius")));
}

#[test]
fn the_handler_sees_no_handle() {
    let server = Server::start(true);
    let handle = server.activate();
    let told = server.call("echo", &json!({"a": 1, "phasegate_session": handle}));
    assert_eq!(told["structuredContent"]["arguments"], json!({"a": 1}));
}

#[test]
fn two_clients_with_sessions_do_not_share_a_phase() {
    let server = Server::start(false);
    let connect = || {
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about});
        let (head, _) = server.post(&[], &hello);
        let session =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
        session.unwrap_or_else(|| panic!("{head}"))
    };
    let call = |session: &str, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        server.post(&[("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")], &message).1["result"]
            .clone()
    };
    let (one, other) = (connect(), connect());
    call(&one, "activate_skill", json!({"skill_name": "lsp-refactor"}));
    let edit = json!({"old": "hello", "new": "hello"});
    assert_eq!(call(&one, "apply_edit", edit.clone())["structuredContent"]["code"], "not-done");
    assert_eq!(call(&other, "apply_edit", edit)["isError"], false);
}
