//! The rollouts of Codex as frames: what its hooks would have been told of a session. Recorded from 0.171.0.

use std::collections::BTreeMap;

use phasegate_adapter::{Recorded, RecordedEnd, SessionLine, SessionLines};
use serde_json::{Map, Value, json};

use crate::records::rollout;

/// What a file's head is kept as: the session's id, and its folder.
const SESSION: &str = "session";
const FOLDER: &str = "folder";
/// What stands in the answer of a call that a hook denied.
const DENIED: &str = " blocked by PreToolUse hook";
/// The tools by which the agent runs a line of the shell; hooks are told `Bash`.
const SHELLS: [&str; 3] = ["exec_command", "shell", "shell_command"];

/// The rollouts of Codex.
#[derive(Debug)]
pub(crate) struct Rollouts;

impl SessionLines for Rollouts {
    fn folders(&self) -> &'static [&'static str] {
        &[".codex/sessions"]
    }

    fn knows(&self, line: &Value) -> bool {
        text(line, "type").is_some() && line.get("payload").is_some()
    }

    fn read(&self, line: &Value, known: &mut BTreeMap<String, Value>) -> SessionLine {
        let payload = line.get("payload").unwrap_or(&Value::Null);
        let frame = match (text(line, "type"), text(payload, "type")) {
            (Some("session_meta"), _) => {
                known.insert(SESSION.to_owned(), payload.get("id").cloned().unwrap_or_default());
                known.insert(FOLDER.to_owned(), payload.get("cwd").cloned().unwrap_or_default());
                Some(("SessionStart", json!({"source": "startup"})))
            }
            (Some("response_item"), Some("function_call" | "custom_tool_call")) => call(payload),
            (Some("event_msg"), Some("item_completed")) => payload.get("item").and_then(prompt),
            (Some("event_msg"), Some("task_complete")) => Some(("Stop", json!({"stop_hook_active": false}))),
            (Some("compacted"), _) => Some(("PreCompact", json!({"trigger": "auto"}))),
            _ => None,
        };
        let at = text(line, "timestamp").map(str::to_owned);
        let session = known.get(SESSION).and_then(Value::as_str).unwrap_or_default();
        let whole = |(event, fields): (&str, Value)| {
            let mut frame = Map::new();
            frame.insert("session_id".into(), session.into());
            frame.insert("hook_event_name".into(), event.into());
            frame.insert("cwd".into(), known.get(FOLDER).cloned().unwrap_or_default());
            frame.extend(fields.as_object().cloned().unwrap_or_default());
            Value::Object(frame)
        };
        // What comes before the head is of no session.
        let frames = frame.filter(|_| !session.is_empty()).map(whole).into_iter().collect();
        SessionLine { frames, ends: ends(line, payload), at }
    }
}

/// A call, as the hook before it is told of it.
fn call(payload: &Value) -> Option<(&'static str, Value)> {
    let name = text(payload, "name")?;
    let input = match text(payload, "arguments") {
        Some(arguments) => serde_json::from_str(arguments).unwrap_or_default(),
        None => json!({"command": text(payload, "input")?}),
    };
    let (name, input) = if SHELLS.contains(&name) {
        let line = input.get("cmd").or_else(|| input.get("command")).unwrap_or(&Value::Null);
        let last = line.as_array().and_then(|words| words.last());
        ("Bash", json!({"command": last.unwrap_or(line)}))
    } else {
        (name, input)
    };
    Some(("PreToolUse", json!({"tool_name": name, "tool_input": input, "tool_use_id": text(payload, "call_id")?})))
}

fn prompt(item: &Value) -> Option<(&'static str, Value)> {
    let parts = item.get("content").and_then(Value::as_array).filter(|_| text(item, "type") == Some("UserMessage"))?;
    let said: Vec<_> = parts.iter().filter_map(|part| text(part, "text")).collect();
    Some(("UserPromptSubmit", json!({"prompt": said.join("\n")})))
}

/// The ends of calls that a line says.
fn ends(line: &Value, payload: &Value) -> Vec<Recorded> {
    let denied = text(payload, "output").is_some_and(|said| said.contains(DENIED));
    match text(payload, "call_id").filter(|_| denied) {
        Some(call) => {
            let (call, end) = (call.to_owned(), Some(RecordedEnd::of(false)));
            vec![Recorded { call, tool: None, input: None, end, at: None }]
        }
        None => rollout::read(&line.to_string()),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_has_the_calls_and_how_they_ended() {
        let item = |item: Value| json!({"type": "event_msg", "payload": {"type": "item_completed", "item": item}});
        let call = |kind: &str, fields: Value| {
            let mut payload = json!({"type": kind});
            payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            json!({"type": "response_item", "payload": payload})
        };
        let lines = [
            json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}),
            item(json!({"type": "UserMessage", "content": [{"type": "text", "text": "go on"}]})),
            call("function_call", json!({"name": "exec_command", "call_id": "a", "arguments": "{\"cmd\":\"make\"}"})),
            item(json!({"type": "CommandExecution", "id": "a", "command": ["bash", "-lc", "make"], "status": "failed",
                "exit_code": 2, "aggregated_output": "x"})),
            call("custom_tool_call", json!({"name": "apply_patch", "call_id": "b", "input": "*** Begin Patch"})),
            call(
                "custom_tool_call_output",
                json!({"call_id": "b", "output": "Command blocked by PreToolUse hook: no"}),
            ),
            json!({"type": "event_msg", "payload": {"type": "task_complete"}}),
        ];
        let (mut known, mut events, mut ends) = (BTreeMap::new(), Vec::new(), Vec::new());
        for line in &lines {
            assert!(Rollouts.knows(line));
            let read = Rollouts.read(line, &mut known);
            events.extend(read.frames.iter().map(|frame| text(frame, "hook_event_name").unwrap().to_owned()));
            ends.extend(read.ends.into_iter().map(|one| (one.call, one.end.unwrap())));
        }
        assert_eq!(events, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PreToolUse", "Stop"]);
        assert_eq!((ends[0].0.as_str(), ends[0].1.exit_code), ("a", Some(2)));
        assert_eq!((ends[1].0.as_str(), ends[1].1.ran), ("b", false));
    }
}
