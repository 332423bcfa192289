//! Frames that are not the client's: each is a problem with a code, and each is refused in a form that the client honours.

use phasegate_adapter::{Frame, Memory};
use phasegate_core::Code;
use serde_json::Value;

use super::cases::{decode, open, recordings, refuse, warn};

const HEAD: &str = r#""session_id":"s","cwd":"/p","hook_event_name":"#;

fn frames() -> Vec<(&'static str, Vec<u8>, Code)> {
    let deep = format!(
        "{{{HEAD}\"PreToolUse\",\"tool_name\":\"x\",\"tool_input\":{}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let text = |event: &str, rest: &str| format!("{{{HEAD}\"{event}\"{rest}}}").into_bytes();
    vec![
        ("empty", Vec::new(), Code::BadInput),
        ("blank", b" \n".to_vec(), Code::BadInput),
        ("not JSON", b"hello".to_vec(), Code::BadInput),
        ("not an object", b"[1]".to_vec(), Code::BadInput),
        ("not UTF-8", b"{\"session_id\":\"\xff\"}".to_vec(), Code::BadInput),
        ("truncated", text("PreToolUse", ",\"tool_name\":\"Ed")[..70].to_vec(), Code::BadInput),
        ("too deep", deep.into_bytes(), Code::BadInput),
        ("two objects", [text("Stop", ""), text("Stop", "")].concat(), Code::BadInput),
        ("no session", b"{\"hook_event_name\":\"Stop\"}".to_vec(), Code::BadInput),
        ("empty session", b"{\"session_id\":\"\",\"hook_event_name\":\"Stop\"}".to_vec(), Code::BadInput),
        ("session of another type", b"{\"session_id\":7,\"hook_event_name\":\"Stop\"}".to_vec(), Code::BadInput),
        ("unknown event", text("PreEverything", ""), Code::EventUnknown),
        ("no tool name", text("PreToolUse", ",\"tool_input\":{}"), Code::BadInput),
        ("no input", text("PreToolUse", ",\"tool_name\":\"Edit\""), Code::BadInput),
        ("tool name of another type", text("PreToolUse", ",\"tool_name\":1,\"tool_input\":{}"), Code::BadInput),
        ("no response", text("PostToolUse", ",\"tool_name\":\"Edit\",\"tool_input\":{}"), Code::BadInput),
        ("no prompt", text("UserPromptSubmit", ""), Code::BadInput),
        ("unknown source", text("SessionStart", ",\"source\":\"dream\""), Code::BadInput),
    ]
}

#[test]
fn each_is_a_problem_and_each_is_refused() {
    for (name, bytes, code) in frames() {
        let frame = Frame::new(bytes);
        let problem = match open(&frame) {
            Err(problem) => problem,
            Ok(_) => decode(&frame, &Memory::Null).unwrap_err(),
        };
        assert_eq!(problem.code, code, "{name}: {problem}");
        let reply = refuse(&frame, &problem);
        let output: Value = serde_json::from_slice(&reply.stdout).unwrap_or_else(|e| panic!("{name}: {e}"));
        let told = String::from_utf8(reply.stdout.clone()).unwrap();
        assert!(told.contains(&format!("phasegate [{code}]")), "{name}: {told}");
        if name == "unknown source" {
            continue; // a session's start cannot be denied, only what it does
        }
        let denies = output["decision"] == "block" || output["hookSpecificOutput"]["permissionDecision"] == "deny";
        assert_eq!((denies, reply.status, reply.stderr.is_empty()), (true, 2, false), "{name}: {told}");
        let warning = warn(&frame, &problem);
        let output: Value = serde_json::from_slice(&warning.stdout).unwrap();
        assert!(warning.status == 0 && output["systemMessage"].is_string(), "{name}");
    }
}

#[test]
fn fields_that_nothing_needs_may_be_anything() {
    let text =
        format!("{{{HEAD}\"Stop\",\"stop_hook_active\":[],\"new\":{{}},\"transcript_path\":null,\"prompt_id\":3}}");
    let decoded = decode(&Frame::new(text), &Memory::String("nonsense".into())).unwrap();
    assert_eq!((decoded.events.len(), decoded.memory), (1, Memory::Null));
}

/// A text that was cut in the middle of an emoji is no reason to lose a call's end.
#[test]
fn half_a_character_is_read_in_every_message() {
    let tool = r#","tool_name":"Read","tool_use_id":"t","tool_input":{"file_path":"\ude00"}"#;
    for (event, rest) in [
        ("PreToolUse", tool.to_owned()),
        ("PostToolUse", format!(r#"{tool},"tool_response":[{{"type":"text","text":"\ud83d"}}]"#)),
        ("PostToolUseFailure", format!(r#"{tool},"error":"no\ud83d""#)),
        ("UserPromptSubmit", r#","prompt":"\ud83d""#.to_owned()),
        ("Stop", r#","last_assistant_message":"\ud83d""#.to_owned()),
        ("SubagentStop", r#","agent_id":"a","agent_type":"\ud83d","last_assistant_message":"\ud83d""#.to_owned()),
    ] {
        let frame = Frame::new(format!("{{{HEAD}\"{event}\"{rest}}}"));
        assert_eq!(open(&frame).unwrap().event, event);
        let decoded = decode(&frame, &Memory::Null).unwrap_or_else(|e| panic!("{event}: {e}"));
        // A message, and the end of the turn.
        let events = if event == "Stop" { 2 } else { 1 };
        assert_eq!(decoded.events.len(), events, "{event}");
    }
}

#[test]
fn what_stands_in_an_argument_is_not_taken_for_the_event() {
    // The client writes the event's name before the arguments; a name within them must not decide the form.
    let cut = format!("{{{HEAD}\"UserPromptExpansion\",\"x\":{{\"hook_event_name\":\"PreToolUse\"");
    let problem = open(&Frame::new(cut.clone())).unwrap_err();
    let reply = refuse(&Frame::new(cut), &problem);
    let output: Value = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!((&output["decision"], reply.status), (&Value::from("block"), 2));
}

#[test]
fn a_recorded_frame_cut_anywhere_is_refused() {
    for (name, frames) in recordings() {
        let Some(frame) = frames.into_iter().find(|frame| frame.windows(12).any(|window| window == b"\"PreToolUse\""))
        else {
            continue;
        };
        for end in (0..frame.len()).step_by(5) {
            let cut = Frame::new(&frame[..end]);
            let problem = open(&cut).unwrap_err();
            let reply = refuse(&cut, &problem);
            let output: Value = serde_json::from_slice(&reply.stdout).unwrap();
            let denies = output["decision"] == "block" || output["hookSpecificOutput"]["permissionDecision"] == "deny";
            assert!(denies && reply.status == 2, "{name} cut at {end}: {output}");
        }
    }
}
