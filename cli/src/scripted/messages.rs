//! The Messages API, as far as the client needs it: what a request holds, what an answer looks like.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::http::Response;

/// A part of the model's message.
#[derive(Debug)]
pub enum Block {
    /// Something said.
    Text(String),
    /// A call.
    Call {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments.
        input: Value,
    },
}

/// The answer with these parts, streamed if the request asks for that.
#[must_use]
pub fn reply(request: &Value, blocks: &[Block]) -> Response {
    let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
    let stop = if calls { "tool_use" } else { "end_turn" };
    // The client takes messages of one id for parts of one message.
    let before = request.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
    let mut message = json!({
        "id": format!("msg_scripted_{before}"), "type": "message", "role": "assistant", "content": [],
        "model": request.get("model").cloned().unwrap_or_default(), "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 1000, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    });
    if request.get("stream").and_then(Value::as_bool) == Some(true) {
        return Response { media_type: "text/event-stream", body: stream(&message, blocks, stop) };
    }
    if let Some(fields) = message.as_object_mut() {
        fields.insert("content".into(), blocks.iter().map(whole).collect());
        fields.insert("stop_reason".into(), stop.into());
    }
    Response { media_type: "application/json", body: message.to_string() }
}

fn whole(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Call { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
    }
}

fn stream(message: &Value, blocks: &[Block], stop: &str) -> String {
    let mut out = String::new();
    let mut event = |value: Value| {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(out, "event: {kind}\ndata: {value}\n\n");
    };
    event(json!({"type": "message_start", "message": message}));
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = match block {
            Block::Text(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            Block::Call { id, name, input } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            ),
        };
        event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        event(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50}}));
    event(json!({"type": "message_stop"}));
    out
}

/// All text that came before the model's first message.
#[must_use]
pub fn opening(request: &Value) -> String {
    let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten();
    let before = messages.take_while(|message| role(message) != Some("assistant"));
    before.filter_map(|message| message.get("content")).map(text).collect::<Vec<_>>().join("\n")
}

/// All text of the user's, results of calls among it.
#[must_use]
pub fn said_by_user(request: &Value) -> String {
    let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten();
    let own = messages.filter(|message| role(message) == Some("user"));
    own.filter_map(|message| message.get("content")).map(text).collect::<Vec<_>>().join("\n")
}

/// What came back for a call: whether it is an error, and all that the model reads after the message that made the
/// call. `None` if these messages do not answer the call.
#[must_use]
pub fn result(messages: &Value, id: &str) -> Option<(bool, String)> {
    let all = messages.as_array()?;
    let answers = |block: &&Value| block.get("tool_use_id").and_then(Value::as_str) == Some(id);
    let blocks = |message: &Value| message.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let at = all.iter().position(|message| blocks(message).iter().any(|block| answers(&block)))?;
    let own = all.get(at).map(blocks)?.into_iter().find(|block| answers(&block))?;
    let error = own.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let mut read = text(own.get("content")?);
    let beside = |block: &Value| block.get("type").and_then(Value::as_str) != Some("tool_result");
    let after = all.iter().skip(at).take_while(|message| role(message) != Some("assistant"));
    for message in after {
        match message.get("content") {
            Some(Value::String(said)) => read = format!("{read}\n{said}"),
            _ => blocks(message)
                .iter()
                .filter(|block| beside(block))
                .for_each(|block| read = format!("{read}\n{}", text(block))),
        }
    }
    Some((error, read))
}

fn role(message: &Value) -> Option<&str> {
    message.get("role").and_then(Value::as_str)
}

/// All text in a content, one piece a line.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => block.get("text").or_else(|| block.get("content")).map(text).unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streamed_answer_holds_the_call_and_says_why_it_stopped() {
        let call = Block::Call { id: "c1".into(), name: "Edit".into(), input: json!({"a": 1}) };
        let body = reply(&json!({"stream": true}), &[Block::Text("hm".into()), call]).body;
        assert!(body.contains(r#""partial_json":"{\"a\":1}""#), "{body}");
        assert!(body.contains(r#""stop_reason":"tool_use""#), "{body}");
        assert!(body.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    }

    #[test]
    fn a_result_is_read_with_the_reminders_beside_it_and_not_with_later_ones() {
        let messages = json!([
            {"role": "user", "content": "GO"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": [{"type": "text", "text": "no"}]},
                {"type": "text", "text": "because"}]},
            {"role": "user", "content": "and"},
            {"role": "assistant", "content": "x"},
            {"role": "user", "content": "later"},
        ]);
        assert_eq!(result(&messages, "c1"), Some((true, "no\nbecause\nand".into())));
        assert_eq!(result(&messages, "c2"), None);
        assert_eq!(opening(&json!({"messages": messages})), "GO");
    }
}
