//! A fake of the language server that the shipped skills name: an MCP server on stdio named `lsp`. Every call that
//! reaches it leaves a file `lsp/TOOL.N` in the project, so that execution is seen from outside.

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use xtask::failure::{Failure, Result};

/// The tools, with what each answers.
const TOOLS: &[(&str, &str)] = &[
    ("start_lsp", "the language server is running"),
    ("open_document", "the document is open"),
    ("get_diagnostics", "0 errors, 0 warnings"),
    ("go_to_symbol", "src/greeting.txt:1:1"),
    ("find_references", "2 references: src/greeting.txt:1:1, src/main.txt:3:5"),
    ("blast_radius", "2 files are affected: src/greeting.txt, src/main.txt"),
    ("preview_edit", "net delta: 0 errors, 0 warnings"),
    ("simulate_chain", "step 1: net delta 0; step 2: net delta 0"),
    ("apply_edit", "1 edit applied"),
    ("format_document", "the document is formatted"),
    ("run_build", "the build passed"),
    ("get_tests_for_file", "1 test: tests/greeting"),
    ("run_tests", "1 passed, 0 failed"),
    ("prepare_rename", "`greeting` can be renamed"),
    ("rename_symbol", "2 edits in 2 files"),
    ("suggest_fixes", "no fixes"),
];

/// Those that change files or run programs.
const WRITERS: &[&str] = &["apply_edit", "format_document", "run_build", "run_tests", "rename_symbol", "start_lsp"];

/// Serves on standard input and output until the input ends. The project is the current folder.
pub(crate) fn run() -> Result {
    let failed = |error: std::io::Error| Failure::new(format!("the fake lost its client: {error}"));
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.map_err(failed)?).unwrap_or_default();
        if let Some(answer) = answer(&message, Path::new(".")) {
            let mut out = std::io::stdout().lock();
            writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(failed)?;
        }
    }
    Ok(())
}

/// The answer to a message; a notification has none.
fn answer(message: &Value, project: &Path) -> Option<Value> {
    let id = message.get("id")?;
    let params = message.get("params").cloned().unwrap_or_default();
    let result = match message.get("method").and_then(Value::as_str)? {
        "initialize" => json!({
            "protocolVersion": params.get("protocolVersion").cloned().unwrap_or_else(|| "2025-06-18".into()),
            "capabilities": {"tools": {}}, "serverInfo": {"name": "lsp", "version": "1"},
        }),
        "tools/list" => json!({"tools": TOOLS.iter().map(|(name, _)| described(name)).collect::<Vec<_>>()}),
        "tools/call" => called(&params, project),
        "ping" => json!({}),
        _ => return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}})),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn described(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    // The client may run calls that only read at the same time.
    let annotations = json!({"readOnlyHint": !WRITERS.contains(&name)});
    let description = format!("language server: {name}");
    json!({"name": name, "description": description, "inputSchema": schema, "annotations": annotations})
}

fn called(params: &Value, project: &Path) -> Value {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let empty = Map::new();
    let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&empty);
    let outcome = match TOOLS.iter().find(|(tool, _)| *tool == name) {
        None => Err(format!("there is no tool `{name}`")),
        Some((tool, text)) => trace(project, tool, arguments).and_then(|()| {
            let fails = arguments.get("fail").and_then(Value::as_bool) == Some(true);
            if fails { Err(format!("{tool} failed")) } else { Ok((*text).to_string()) }
        }),
    };
    let failed = outcome.is_err();
    json!({"content": [{"type": "text", "text": outcome.unwrap_or_else(|problem| problem)}], "isError": failed})
}

/// Leaves the trace of a call: the next free `lsp/TOOL.N`, with the arguments.
fn trace(project: &Path, tool: &str, arguments: &Map<String, Value>) -> std::result::Result<(), String> {
    let folder = project.join("lsp");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let free = (1..).map(|number: u32| folder.join(format!("{tool}.{number}"))).find(|path| !path.exists());
    let text = Value::Object(arguments.clone()).to_string();
    free.map_or(Ok(()), |path| std::fs::write(path, text)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_answers_and_leaves_a_trace_also_when_it_fails() {
        let folder = std::env::temp_dir().join(format!("phasegate-fake-{}", std::process::id()));
        let call = |arguments: Value| {
            let params = json!({"name": "run_build", "arguments": arguments});
            answer(&json!({"id": 1, "method": "tools/call", "params": params}), &folder).unwrap()
        };
        assert_eq!(call(json!({}))["result"]["isError"], false);
        assert_eq!(call(json!({"fail": true}))["result"]["isError"], true);
        assert!(folder.join("lsp/run_build.1").exists() && folder.join("lsp/run_build.2").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn notifications_are_not_answered_and_unknown_methods_are_refused() {
        assert_eq!(answer(&json!({"method": "notifications/initialized"}), Path::new(".")), None);
        let refused = answer(&json!({"id": 1, "method": "resources/list"}), Path::new(".")).unwrap();
        assert_eq!(refused["error"]["code"], -32601);
    }
}
