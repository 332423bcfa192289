//! A server of tools for tests: what it answers, and itself as a child with standard input and output.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// The argument that makes this program a server; the file for what it received follows.
pub(crate) const START: &str = "--be-an-http-server";

/// Serves standard input until it ends.
pub(crate) fn run() {
    let log = std::env::args().nth(2).unwrap();
    let mut asked = Value::Null;
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        record(Path::new(&log), &line);
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message["params"]["name"] == "exit" {
            std::process::exit(4);
        }
        if message["params"]["name"] == "ask" {
            asked = message["id"].clone();
        }
        let mut told = answers(&message);
        if message.get("method").is_none() && message["id"] == "question" {
            told.push(json!({"jsonrpc": "2.0", "id": asked, "result": text(&message["result"].to_string())}));
        }
        let mut out = std::io::stdout().lock();
        for message in told {
            writeln!(out, "{message}").unwrap();
        }
        out.flush().unwrap();
    }
}

/// Writes down what arrived; several servers share a file.
pub(crate) fn record(log: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// What the server says to a message, in order. Nothing: it hangs.
pub(crate) fn answers(message: &Value) -> Vec<Value> {
    let (id, params) = (&message["id"], &message["params"]);
    let meta = &params["_meta"];
    let stateless = meta["io.modelcontextprotocol/protocolVersion"].is_string();
    let result = |mut result: Value| {
        if stateless && result.get("resultType").is_none() {
            result["resultType"] = "complete".into();
        }
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    };
    let tells = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let listed = |mut list: Value| {
        if stateless {
            list["ttlMs"] = 1000.into();
            list["cacheScope"] = "public".into();
        }
        result(list)
    };
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => vec![result(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "test", "version": std::process::id().to_string()},
        }))],
        "server/discover" => vec![listed(json!({
            "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": {"tools": {"listChanged": true}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "1"}},
        }))],
        "tools/list" => vec![listed(json!({"tools": tools()}))],
        "tools/call" => call(params, &result, &tells),
        "resources/read" => vec![listed(json!({"contents": [{"uri": params["uri"], "text": "read"}]}))],
        "prompts/get" => vec![result(json!({"messages": [], "description": params["name"]}))],
        "subscriptions/listen" => vec![
            tells(
                "notifications/subscriptions/acknowledged",
                json!({"notifications": params["notifications"], "_meta": {"io.modelcontextprotocol/subscriptionId": id}}),
            ),
            tells("notifications/tools/list_changed", json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}})),
        ],
        "notifications/tell" => vec![tells("notifications/message", json!({"level": "info", "data": params["data"]}))],
        _ if id.is_null() || message.get("method").is_none() => Vec::new(),
        method => {
            let error = json!({"code": -32601, "message": format!("no method `{method}`")});
            vec![json!({"jsonrpc": "2.0", "id": id, "error": error})]
        }
    }
}

fn tools() -> Value {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut sql = tool("sql");
    sql["inputSchema"]["properties"] = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    json!([tool("look"), tool("write"), tool("hang"), tool("slow"), tool("ask"), tool("big"), sql])
}

fn call(params: &Value, result: &dyn Fn(Value) -> Value, tells: &dyn Fn(&str, Value) -> Value) -> Vec<Value> {
    let arguments = &params["arguments"];
    match params["name"].as_str().unwrap_or_default() {
        "hang" => Vec::new(),
        "slow" => {
            let progress = |step: u32| {
                let token = &params["_meta"]["progressToken"];
                tells("notifications/progress", json!({"progressToken": token, "progress": step, "total": 2}))
            };
            vec![progress(1), progress(2), result(text("slow ran"))]
        }
        "ask" => vec![json!({"jsonrpc": "2.0", "id": "question", "method": "sampling/createMessage", "params": {}})],
        "input" if params["inputResponses"].is_null() => vec![result(json!({
            "resultType": "input_required", "requestState": "state",
            "inputRequests": {"name": {"method": "elicitation/create", "params": {"mode": "form"}}},
        }))],
        "big" => vec![result(text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap())))],
        "unsupported" => vec![json!({"jsonrpc": "2.0", "id": result(json!({}))["id"], "error":
            {"code": -32021, "message": "no", "data": {"requiredCapabilities": {"elicitation": {}}}}})],
        name => {
            let mut said = text(&format!("{name} ran"));
            said["structuredContent"] = json!({"arguments": arguments, "process": std::process::id()});
            vec![result(said)]
        }
    }
}
