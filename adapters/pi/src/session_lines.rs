//! The client's own files of sessions as messages of the extension: one JSON object a line. Recorded from 1.5.2 (version 3).

use std::collections::BTreeMap;

use phasegate_adapter::{SessionLine, SessionLines};
use serde_json::{Value, json};

/// What a file's head is kept as: the session's id, and its folder.
const SESSION: &str = "session";
const FOLDER: &str = "folder";

/// The files of sessions of Pi.
#[derive(Debug)]
pub(crate) struct Sessions;

impl SessionLines for Sessions {
    fn folders(&self) -> &'static [&'static str] {
        &[".pi/agent/sessions"]
    }

    fn knows(&self, line: &Value) -> bool {
        let is_head = text(line, "type") == Some("session") && line.get("version").is_some();
        is_head || (text(line, "type").is_some() && line.get("parentId").is_some() && text(line, "id").is_some())
    }

    fn read(&self, line: &Value, known: &mut BTreeMap<String, Value>) -> SessionLine {
        let at = text(line, "timestamp").map(str::to_owned);
        let events = match text(line, "type") {
            Some("session") => {
                known.insert(SESSION.to_owned(), line.get("id").cloned().unwrap_or_default());
                known.insert(FOLDER.to_owned(), line.get("cwd").cloned().unwrap_or_default());
                vec![json!({"type": "session_start", "reason": "startup"})]
            }
            Some("message") => of_message(line.get("message").unwrap_or(&Value::Null), known),
            Some("compaction") => vec![json!({"type": "session_before_compact"})],
            _ => Vec::new(),
        };
        // What comes before the head is of no session.
        let Some(session) = known.get(SESSION).and_then(Value::as_str) else { return SessionLine::default() };
        let folder = known.get(FOLDER).cloned().unwrap_or_default();
        let frame = |event| json!({"event": event, "session": session, "cwd": folder, "mode": "json"});
        SessionLine { frames: events.into_iter().map(frame).collect(), at, ..SessionLine::default() }
    }
}

fn of_message(message: &Value, known: &mut BTreeMap<String, Value>) -> Vec<Value> {
    let parts = message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    match text(message, "role") {
        Some("user") => {
            let said: Vec<_> = parts.iter().filter_map(|part| text(part, "text")).collect();
            let said = text(message, "content").map_or_else(|| said.join("\n"), str::to_owned);
            vec![json!({"type": "input", "text": said, "source": "extension"})]
        }
        Some("assistant") => {
            let mut events = Vec::new();
            for call in parts.iter().filter(|part| text(part, "type") == Some("toolCall")) {
                let (Some(id), Some(name)) = (text(call, "id"), text(call, "name")) else { continue };
                let input = call.get("arguments").cloned().unwrap_or_default();
                known.insert(format!("call {id}"), input.clone());
                events.push(json!({"type": "tool_call", "toolName": name, "toolCallId": id, "input": input}));
            }
            if let Some(why) = text(message, "stopReason").filter(|why| *why != "toolUse") {
                events.push(json!({"type": "agent_end", "stopReason": why}));
            }
            events
        }
        Some("toolResult") => {
            let field = |name: &str| message.get(name).cloned().unwrap_or_default();
            let input = text(message, "toolCallId").and_then(|id| known.remove(&format!("call {id}")));
            vec![json!({"type": "tool_result", "toolName": field("toolName"), "toolCallId": field("toolCallId"),
                "input": input, "content": field("content"), "isError": field("isError")})]
        }
        _ => Vec::new(),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::{Codec as _, Frame, Playback};
    use phasegate_core::{Event, EventKind};

    use super::*;
    use crate::Pi;

    #[test]
    fn a_file_is_read_by_the_clients_own_codec() {
        let lines = [
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T18:17:32.259Z", "cwd": "/p"}),
            json!({"type": "model_change", "id": "a", "parentId": null, "timestamp": "2026-11-30T18:17:33Z"}),
            json!({"type": "message", "id": "b", "parentId": "a", "message":
                {"role": "user", "content": [{"type": "text", "text": "go on"}]}}),
            json!({"type": "message", "id": "c", "parentId": "b", "message": {"role": "assistant", "stopReason": "toolUse",
                "content": [{"type": "toolCall", "id": "t", "name": "bash", "arguments": {"command": "make test"}}]}}),
            json!({"type": "message", "id": "d", "parentId": "c", "message": {"role": "toolResult", "toolCallId": "t",
                "toolName": "bash", "content": [{"type": "text", "text": "Command exited with code 2"}], "isError": true}}),
            json!({"type": "message", "id": "e", "parentId": "d", "message": {"role": "assistant", "stopReason": "stop",
                "content": [{"type": "text", "text": "done"}]}}),
        ];
        let (mut known, mut session, mut events) = (BTreeMap::new(), Playback::default(), Vec::new());
        for line in lines {
            assert!(Sessions.knows(&line), "{line}");
            for frame in Sessions.read(&line, &mut known).frames {
                let message = Pi.open(&Frame::new(frame.to_string())).unwrap();
                events.extend(session.decode(&Pi, &message).unwrap().events);
            }
        }
        let names: Vec<_> = events.iter().map(Event::name).collect();
        assert_eq!(names, ["session_start", "prompt", "tool_call", "tool_result", "stop"]);
        assert!(matches!(&events[3].kind, EventKind::ToolResult { exit_code: Some(2), .. }), "{:?}", events[3]);
    }
}
