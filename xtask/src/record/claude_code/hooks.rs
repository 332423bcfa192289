//! What the hooks were asked and said.

use serde_json::Value;

use crate::record::frame::Frame;
use crate::record::played::Said;

/// The names of the events, each once, in order of first arrival.
pub(super) fn events(frames: &[Frame]) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for event in frames.iter().filter_map(|frame| field(&input(frame), "hook_event_name")) {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

/// What the guard said before a call ran; `None` if it was not asked.
pub(super) fn said(frames: &[Frame], id: &str) -> Option<Said> {
    let asks = |input: &Value| {
        field(input, "hook_event_name").as_deref() == Some("PreToolUse")
            && field(input, "tool_use_id").as_deref() == Some(id)
    };
    frames.iter().find(|frame| asks(&input(frame))).map(answer)
}

fn answer(frame: &Frame) -> Said {
    let reply = &frame.reply;
    if reply.status == Some(2) {
        return Said::Stop(reply.stderr.clone());
    }
    let all: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
    let specific = all.get("hookSpecificOutput").cloned().unwrap_or_default();
    let reason = field(&specific, "permissionDecisionReason").unwrap_or_default();
    match field(&specific, "permissionDecision").as_deref() {
        Some("deny") => Said::Stop(reason),
        Some("ask") => Said::Ask(reason),
        _ => Said::Go(field(&specific, "additionalContext").unwrap_or_default()),
    }
}

fn input(frame: &Frame) -> Value {
    serde_json::from_str(&frame.input).unwrap_or_default()
}

fn field(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::record::frame::Reply;

    fn frame(stdout: &Value, status: i32) -> Frame {
        let input = json!({"hook_event_name": "PreToolUse", "tool_use_id": "c1"}).to_string();
        let reply = Reply { stdout: stdout.to_string(), stderr: "no".into(), status: Some(status) };
        Frame { args: Vec::new(), environment: BTreeMap::default(), input, reply }
    }

    #[test]
    fn every_form_of_an_answer_is_understood() {
        let specific = |value: Value| json!({"hookSpecificOutput": value});
        let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "r"});
        let ask = json!({"permissionDecision": "ask", "permissionDecisionReason": "r"});
        let context = json!({"additionalContext": "c"});
        let told = |stdout: Value, status| said(&[frame(&stdout, status)], "c1");
        assert_eq!(told(specific(deny), 0), Some(Said::Stop("r".into())));
        assert_eq!(told(specific(ask), 0), Some(Said::Ask("r".into())));
        assert_eq!(told(specific(context), 0), Some(Said::Go("c".into())));
        assert_eq!(told(json!({}), 2), Some(Said::Stop("no".into())));
        assert_eq!(said(&[frame(&json!({}), 0)], "c2"), None);
        assert_eq!(events(&[frame(&json!({}), 0)]), ["PreToolUse"]);
    }
}
