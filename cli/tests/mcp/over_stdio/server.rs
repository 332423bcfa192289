//! A server for tests. What it does is in the names of its tools, and in how it was started.

use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

/// The argument that makes this program a server; the way to behave and the file for what it received follow.
pub(crate) const START: &str = "--be-a-server";

/// Names of tools that do something else than to say that they ran.
const TOOLS: [&str; 6] = ["look", "store", "start_lsp", "blast_radius", "find_references", "apply_edit"];

/// Serves standard input until it ends.
#[expect(clippy::zombie_processes, reason = "whether somebody else ends the child is what is asked")]
pub(crate) fn run() {
    let args: Vec<String> = std::env::args().collect();
    let (way, log) = (args[2].as_str(), args[3].as_str());
    match way {
        "crash-at-start" => std::process::exit(3),
        "garbage-at-start" => say("this is no message\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n[]\n\u{1}"),
        "leaves-a-child" => {
            let child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
            std::fs::write(format!("{log}.child"), child.id().to_string()).unwrap();
        }
        _ => {}
    }
    let stdin = std::io::stdin();
    for line in stdin.lock().lines() {
        let Ok(line) = line else { break };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        writeln!(file, "{line}").unwrap();
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        answer(&message, &line, way);
    }
    if way == "stays" {
        std::thread::sleep(std::time::Duration::from_secs(1000));
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

fn reply(id: &Value, result: &Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn answer(message: &Value, line: &str, way: &str) {
    let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
    let params = &message["params"];
    match method {
        "initialize" => reply(id, &greeting(way)),
        "server/discover" => reply(
            id,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 9,
                    "cacheScope": "public"}),
        ),
        "tools/list" if params["raw"].is_string() => {
            let raw = params["raw"].as_str().unwrap_or_default();
            say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{raw}}}"#));
        }
        "tools/list" => reply(id, &tools(params, way)),
        "tools/call" => call(id, params, way),
        "prompts/list" => reply(id, &json!({"prompts": [{"name": "ask", "x": 1}]})),
        "prompts/get" => reply(id, &json!({"messages": [], "description": params["name"]})),
        "resources/list" => reply(id, &json!({"resources": [{"uri": format!("test://{way}/a"), "name": "a"}]})),
        "resources/templates/list" => {
            reply(id, &json!({"resourceTemplates": [{"uriTemplate": format!("test://{way}/t/{{x}}"), "name": "t"}]}));
        }
        "resources/read" | "resources/subscribe"
            if matches!(way, "one" | "two")
                && params["uri"].as_str().is_some_and(|uri| !uri.starts_with(&format!("test://{way}/"))) =>
        {
            say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32002, "message": "no such resource"}})
                .to_string());
        }
        "resources/read" => reply(id, &json!({"contents": [{"uri": params["uri"], "text": way}]})),
        "completion/complete" if params["ref"]["uri"].is_string() => {
            let own = params["ref"]["uri"].as_str().unwrap_or_default().starts_with(&format!("test://{way}/"));
            reply(id, &json!({"completion": {"values": if own { vec![way] } else { Vec::new() }}}));
        }
        "completion/complete" => reply(id, &json!({"completion": {"values": [params["ref"]["name"]]}})),
        "tasks/result" => reply(id, &json!({"content": [], "isError": params["taskId"] == "bad"})),
        "subscriptions/listen" => {
            say(&json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params":
                    {"notifications": {}, "_meta": {"io.modelcontextprotocol/subscriptionId": id}}})
            .to_string())
        }
        "test/raw" => say(params["text"].as_str().unwrap_or_default()),
        "" if !id.is_null() && message.get("result").is_some() => {
            // The client's answer to our request ends the call that asked.
            let told = json!({"content": [{"type": "text", "text": message["result"].to_string()}]});
            let call: Value = id.as_str().and_then(|id| serde_json::from_str(id.strip_prefix("for-")?).ok()).unwrap();
            reply(&call, &told);
        }
        _ if !id.is_null() => reply(id, &json!({"method": method, "params": params})),
        "notifications/echo" => say(line),
        _ => {}
    }
}

fn greeting(way: &str) -> Value {
    let mut greeting = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "experimental": {"x": {"y": 1}}},
        "serverInfo": {"name": way, "version": "1", "unknown": [1, 2]},
    });
    if way == "lists" {
        greeting["protocolVersion"] = "2025-03-26".into();
    }
    if way == "without-tools" {
        greeting["capabilities"] = json!({"logging": {}});
    }
    greeting
}

/// How often tools were listed.
static LISTED: AtomicUsize = AtomicUsize::new(1);

fn tools(params: &Value, way: &str) -> Value {
    let tool = |name: &str| {
        let read = matches!(name, "look" | "blast_radius" | "find_references");
        json!({"name": name, "inputSchema": {"type": "object", "$schema": "x"}, "annotations": {"readOnlyHint": read}, "new": 1})
    };
    let one: Vec<&str> = way.strip_prefix("only-").into_iter().collect();
    let (page, next) = match params["cursor"].as_str() {
        _ if !one.is_empty() => (one, None),
        _ if way == "plain" => (TOOLS.to_vec(), None),
        None => (TOOLS[..3].to_vec(), Some("more")),
        Some(_) => (TOOLS[3..].to_vec(), None),
    };
    let mut tools: Vec<Value> = page.into_iter().map(tool).collect();
    if way == "impostor" {
        tools.push(tool("activate_skill"));
    }
    if way == "changes" {
        let listed = LISTED.fetch_add(1, Ordering::Relaxed);
        tools[0]["description"] = format!("in its form {listed}").into();
    }
    if way == "declares" {
        tools[0]["outputSchema"] = json!({"type": "object", "required": ["n"]});
    }
    let mut result = json!({"tools": tools});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    if params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
        result["resultType"] = "complete".into();
        result["ttlMs"] = 60_000.into();
        result["cacheScope"] = "public".into();
    }
    result
}

fn call(id: &Value, params: &Value, way: &str) {
    let name = params["name"].as_str().unwrap_or_default();
    match name {
        "hang" => {}
        "exit" => std::process::exit(4),
        "garbage" => say("}{ no message"),
        "unreadable" => say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"result":{{}}}}"#)),
        "stranger" => {
            reply(&json!("nobody asked"), &json!({}));
            reply(id, &json!({"content": []}));
        }
        "big" => {
            let text = "x".repeat(usize::try_from(params["arguments"]["bytes"].as_u64().unwrap()).unwrap());
            reply(id, &json!({"content": [{"type": "text", "text": text}]}));
        }
        "deep" => say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"a":{}{}}}}}}}"#,
            "[".repeat(110),
            "]".repeat(110)
        )),
        "fail" => reply(id, &json!({"content": [{"type": "text", "text": "no"}], "isError": true})),
        "error" => say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no", "data": 7}}).to_string()),
        "ask" => say(
            &json!({"jsonrpc": "2.0", "id": format!("for-{id}"), "method": "sampling/createMessage", "params": {"way": way}})
                .to_string(),
        ),
        "task" => reply(id, &json!({"task": {"taskId": params["arguments"]["id"], "status": "working"}})),
        "input" => reply(id, &json!({"resultType": "input_required", "requestState": "s", "inputRequests": {}})),
        _ => reply(
            id,
            &json!({"content": [{"type": "text", "text": format!("{way}: {name} ran")}], "_meta": {"k": 1}, "extra": true}),
        ),
    }
}
