//! The client's own files of sessions as frames: one JSON object a line, each with a message of the user, of the agent or of
//! the client. Recorded from 2.1.197 and 2.1.332.

use std::collections::BTreeMap;

use phasegate_adapter::{SessionLine, SessionLines};
use serde_json::{Map, Value, json};

/// How the client's answer begins where a hook denied the call.
const DENIED: &str = "PreToolUse:";
/// Of these, each line of such a file has one.
const IDS: [&str; 4] = ["uuid", "sessionId", "messageId", "leafUuid"];
/// The tag of the name of a command that a person typed.
const COMMAND: &str = "command-name";
/// The type of a subagent of which the file says none.
const ANY_AGENT: &str = "general-purpose";

/// The files of sessions of Claude Code.
#[derive(Debug)]
pub(crate) struct Sessions;

impl SessionLines for Sessions {
    fn folders(&self) -> &'static [&'static str] {
        &[".claude/projects"]
    }

    fn knows(&self, line: &Value) -> bool {
        text(line, "type").is_some() && IDS.iter().any(|id| line.get(id).is_some())
    }

    fn read(&self, line: &Value, known: &mut BTreeMap<String, Value>) -> SessionLine {
        let at = text(line, "timestamp").map(str::to_owned);
        let Some(session) = text(line, "sessionId") else { return SessionLine::default() };
        let mut frames = Frames { line, session, known, all: Vec::new() };
        match text(line, "type") {
            Some("user") => frames.of_user(),
            Some("assistant") => frames.of_agent(),
            Some("system") if text(line, "subtype") == Some("compact_boundary") => {
                frames.add("PreCompact", json!({"trigger": "auto"}));
            }
            _ => {}
        }
        SessionLine { frames: frames.all, at, ..SessionLine::default() }
    }
}

/// The frames of a line during its reading.
struct Frames<'a> {
    line: &'a Value,
    session: &'a str,
    known: &'a mut BTreeMap<String, Value>,
    all: Vec<Value>,
}

impl Frames<'_> {
    /// Adds a frame. The first one of a session or of a subagent has its start before it.
    fn add(&mut self, event: &str, fields: Value) {
        if self.known.insert(format!("session {}", self.session), Value::Null).is_none() {
            let start = self.frame("SessionStart", json!({"source": "startup"}), None);
            self.all.push(start);
        }
        let agent = self.agent();
        if let Some(agent) = &agent
            && self.known.insert(format!("agent {agent}"), Value::Null).is_none()
        {
            let start = self.frame("SubagentStart", json!({"agent_id": agent, "agent_type": ANY_AGENT}), None);
            self.all.push(start);
        }
        let frame = self.frame(event, fields, agent.as_deref());
        self.all.push(frame);
    }

    fn frame(&self, event: &str, fields: Value, agent: Option<&str>) -> Value {
        let mut frame = Map::new();
        frame.insert("session_id".into(), self.session.into());
        frame.insert("hook_event_name".into(), event.into());
        if let Some(cwd) = self.line.get("cwd").filter(|cwd| cwd.is_string()) {
            frame.insert("cwd".into(), cwd.clone());
        }
        if let Some(mode) = self.line.get("permissionMode").filter(|mode| mode.is_string()) {
            frame.insert("permission_mode".into(), mode.clone());
        }
        if let Some(agent) = agent {
            frame.insert("agent_id".into(), agent.into());
            frame.insert("agent_type".into(), ANY_AGENT.into());
        }
        frame.extend(fields.as_object().cloned().unwrap_or_default());
        Value::Object(frame)
    }

    /// The subagent whose line it is.
    fn agent(&self) -> Option<String> {
        let aside = self.line.get("isSidechain").and_then(Value::as_bool) == Some(true);
        aside.then(|| text(self.line, "agentId").unwrap_or("subagent").to_owned())
    }

    fn of_agent(&mut self) {
        for block in blocks(self.line) {
            let (Some("tool_use"), Some(id), Some(name)) =
                (text(block, "type"), text(block, "id"), text(block, "name"))
            else {
                continue;
            };
            let input = block.get("input").cloned().unwrap_or_default();
            let call = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
            self.known.insert(format!("call {id}"), call.clone());
            self.add("PreToolUse", call);
        }
        let over = self.line.pointer("/message/stop_reason").and_then(Value::as_str) == Some("end_turn");
        if over && self.agent().is_none() {
            self.add("Stop", json!({"stop_hook_active": false}));
        }
    }

    fn of_user(&mut self) {
        let is_note = self.line.get("isMeta").and_then(Value::as_bool) == Some(true);
        let prompt = match self.line.pointer("/message/content") {
            Some(Value::String(said)) => said.clone(),
            _ => said(blocks(self.line)),
        };
        for block in blocks(self.line).iter().filter(|block| text(block, "type") == Some("tool_result")) {
            self.result(block);
        }
        if is_note || self.agent().is_some() || prompt.is_empty() {
            return;
        }
        match tagged(&prompt, COMMAND) {
            Some(name) => {
                let arguments = tagged(&prompt, "command-args").unwrap_or_default();
                let name = name.trim_start_matches('/');
                let fields =
                    json!({"expansion_type": "slash_command", "command_name": name, "command_args": arguments});
                self.add("UserPromptExpansion", fields);
            }
            None => self.add("UserPromptSubmit", json!({"prompt": prompt})),
        }
    }

    fn result(&mut self, block: &Value) {
        let Some(id) = text(block, "tool_use_id") else { return };
        let Some(Value::Object(mut call)) = self.known.remove(&format!("call {id}")) else { return };
        let answer = match block.get("content") {
            Some(Value::String(said)) => said.clone(),
            Some(Value::Array(parts)) => said(parts),
            _ => String::new(),
        };
        if block.get("is_error").and_then(Value::as_bool) != Some(true) {
            let is_shells = call.get("tool_name").and_then(Value::as_str) == Some("Bash");
            let alone = || blocks(self.line).len() == 1;
            let kept = self.line.get("toolUseResult").filter(|kept| alone() && (kept.is_object() || kept.is_array()));
            let shells = || json!({"stdout": answer, "stderr": "", "interrupted": false});
            let response = kept.cloned().unwrap_or_else(|| if is_shells { shells() } else { Value::from(&*answer) });
            call.insert("tool_response".into(), response);
            return self.add("PostToolUse", Value::Object(call));
        }
        if answer.starts_with(DENIED) || self.line.get("toolDenialKind").is_some() {
            return self.add("PermissionDenied", Value::Object(call));
        }
        call.insert("error".into(), answer.into());
        self.add("PostToolUseFailure", Value::Object(call));
    }
}

fn blocks(line: &Value) -> &[Value] {
    line.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The texts among the parts of a message.
fn said(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")
}

/// What stands in a tag of a text.
fn tagged<'t>(prompt: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = prompt.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[Value]) -> Vec<Value> {
        let mut known = BTreeMap::new();
        let frames = |line: &Value| {
            let mut line = line.clone();
            let head = json!({"sessionId": "s", "uuid": "u", "cwd": "/p", "timestamp": "2026-11-28T19:11:40.910Z"});
            line.as_object_mut().unwrap().extend(head.as_object().unwrap().clone());
            assert!(Sessions.knows(&line));
            Sessions.read(&line, &mut known).frames
        };
        lines.iter().flat_map(frames).collect()
    }

    #[test]
    fn a_call_and_its_end_are_what_the_hooks_would_have_sent() {
        let call = json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "first"},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make test"}}]}});
        let failed = json!({"type": "user", "toolUseResult": "Error: Exit code 2", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "Exit code 2\n1 failed"}]}});
        let frames = read(&[json!({"type": "user", "message": {"content": "go on"}}), call, failed]);
        let events: Vec<_> = frames.iter().map(|frame| text(frame, "hook_event_name").unwrap()).collect();
        assert_eq!(events, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"]);
        assert_eq!(frames[3]["error"], "Exit code 2\n1 failed");
        assert_eq!((&frames[3]["tool_input"]["command"], &frames[3]["cwd"]), (&json!("make test"), &json!("/p")));
    }

    #[test]
    fn a_typed_command_a_subagent_and_a_denial_are_told_apart() {
        let typed = json!({"type": "user", "message": {"content":
            "<command-message>red</command-message><command-name>/red</command-name><command-args>a b</command-args>"}});
        let aside = json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "message": {"content": [
            {"type": "tool_use", "id": "t", "name": "Edit", "input": {}}]}});
        let denied = json!({"type": "user", "isSidechain": true, "agentId": "a1", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "PreToolUse:Edit hook error: no"}]}});
        let frames = read(&[typed, aside, denied]);
        let events: Vec<_> = frames.iter().map(|frame| text(frame, "hook_event_name").unwrap()).collect();
        assert_eq!(events, ["SessionStart", "UserPromptExpansion", "SubagentStart", "PreToolUse", "PermissionDenied"]);
        assert_eq!((&frames[1]["command_name"], &frames[1]["command_args"]), (&json!("red"), &json!("a b")));
        assert_eq!(frames[4]["agent_id"], "a1");
    }
}
