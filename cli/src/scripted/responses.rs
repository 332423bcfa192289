//! The Responses API, as far as a client needs it: its requests as those of the Messages API, and the answer in its own form.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::http::Response;
use super::messages::Block;

/// How the client says that a hook stopped a call.
const STOPPED: [&str; 2] = ["Command blocked by PreToolUse hook", "Tool call blocked by PreToolUse hook"];

/// The request as one of the Messages API.
#[must_use]
pub fn request(body: &Value) -> Value {
    let given = body.get("input").and_then(Value::as_array).into_iter().flatten();
    let more = given.clone().find_map(|item| item.get("tools"));
    // What a hook says of a call stands before its result, and the model reads it with the result.
    let (mut messages, mut waiting, mut open) = (Vec::new(), Vec::new(), 0_usize);
    for message in given.filter_map(message) {
        let kind = message.pointer("/content/0/type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_use" => open += 1,
            "tool_result" => open = open.saturating_sub(1),
            _ if open > 0 => {
                waiting.push(message);
                continue;
            }
            _ => {}
        }
        messages.push(message);
        if open == 0 {
            messages.append(&mut waiting);
        }
    }
    messages.append(&mut waiting);
    json!({"messages": messages, "tools": more.or_else(|| body.get("tools"))})
}

/// An item of the conversation as a message.
fn message(item: &Value) -> Option<Value> {
    let field = |name: &str| item.get(name).cloned().unwrap_or_default();
    let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
    Some(match kind {
        "message" if item.get("role")? == "assistant" => json!({"role": "assistant", "content": field("content")}),
        "message" => json!({"role": "user", "content": field("content")}),
        "function_call" | "custom_tool_call" => {
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": field("call_id")}]})
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = field("output");
            let stopped = output.as_str().is_some_and(|text| STOPPED.iter().any(|start| text.starts_with(start)));
            let block =
                json!({"type": "tool_result", "tool_use_id": field("call_id"), "content": output, "is_error": stopped});
            json!({"role": "user", "content": [block]})
        }
        _ => return None,
    })
}

/// The answer with these parts, as a stream of events. A tool is named `NAMESPACE::NAME` where it is in a namespace, and one
/// that takes a text has it under `text`.
#[must_use]
pub fn reply(request: &Value, blocks: &[Block]) -> Response {
    let before = request.get("input").and_then(Value::as_array).map_or(0, Vec::len);
    let output: Vec<Value> = blocks.iter().map(|block| item(before, block)).collect();
    let usage = json!({"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}});
    let mut stream = String::new();
    let mut event = |value: Value| {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(stream, "event: {kind}\ndata: {value}\n\n");
    };
    let id = format!("resp_scripted_{before}");
    event(json!({"type": "response.created", "response": {"id": id}}));
    for (index, item) in output.iter().enumerate() {
        event(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let whole = json!({"id": id, "object": "response", "status": "completed", "output": output, "usage": usage});
    event(json!({"type": "response.completed", "response": whole}));
    Response { media_type: "text/event-stream", body: stream }
}

fn item(before: usize, block: &Block) -> Value {
    match block {
        Block::Text(text) => {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            json!({"type": "message", "id": format!("msg_scripted_{before}"), "role": "assistant", "content": content})
        }
        Block::Call { id, name, input } => match input.get("text") {
            Some(text) => {
                json!({"type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id, "name": name, "input": text})
            }
            None => called(id, name, input),
        },
    }
}

fn called(id: &str, name: &str, input: &Value) -> Value {
    let (namespace, name) = name.split_once("::").map_or((None, name), |(space, name)| (Some(space), name));
    let mut call = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
        "arguments": input.to_string()});
    if let (Some(fields), Some(namespace)) = (call.as_object_mut(), namespace) {
        fields.insert("namespace".into(), namespace.into());
    }
    call
}

#[cfg(test)]
mod tests {
    use super::super::messages;
    use super::*;

    #[test]
    fn a_request_reads_as_one_of_the_other_api() {
        let body = json!({"tools": [{"name": "exec_command"}], "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "GO"}]},
            {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "Command blocked by PreToolUse hook: no"},
        ]});
        let request = request(&body);
        assert_eq!(messages::opening(&request), "rules\nGO");
        let (error, read) = messages::result(&request["messages"], "c1").unwrap();
        assert_eq!((error, read.as_str()), (true, "Command blocked by PreToolUse hook: no"));
    }

    #[test]
    fn an_answer_holds_each_call_in_its_form() {
        let call = |name: &str, input| Block::Call { id: "c".into(), name: name.into(), input };
        let blocks = [call("mcp__lsp::run", json!({"a": 1})), call("apply_patch", json!({"text": "*** Begin"}))];
        let body = reply(&json!({"input": [1]}), &blocks).body;
        for part in [
            r#""namespace":"mcp__lsp""#,
            r#""arguments":"{\"a\":1}""#,
            r#""type":"custom_tool_call""#,
            "resp_scripted_1",
        ] {
            assert!(body.contains(part), "{part}: {body}");
        }
    }
}
