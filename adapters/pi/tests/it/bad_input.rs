//! Frames that are not the extension's: each is a problem with a code, and each is refused in a form that denies.

use phasegate_adapter::{Frame, Memory};
use phasegate_core::Code;
use serde_json::Value;

use super::cases::{decode, open, recordings, refuse, warn};

fn frames() -> Vec<(&'static str, Vec<u8>, Code)> {
    let deep = format!(
        r#"{{"event":{{"type":"tool_call","toolName":"x","input":{}1{}}},"session":"s"}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let text = |event: &str| format!(r#"{{"event":{event},"session":"s","cwd":"/p"}}"#).into_bytes();
    vec![
        ("empty", Vec::new(), Code::BadInput),
        ("blank", b" \n".to_vec(), Code::BadInput),
        ("not JSON", b"hello".to_vec(), Code::BadInput),
        ("not an object", b"[1]".to_vec(), Code::BadInput),
        ("not UTF-8", b"{\"session\":\"\xff\"}".to_vec(), Code::BadInput),
        ("too deep", deep.into_bytes(), Code::BadInput),
        ("no session", br#"{"event":{"type":"agent_end"}}"#.to_vec(), Code::BadInput),
        ("empty session", br#"{"event":{"type":"agent_end"},"session":""}"#.to_vec(), Code::BadInput),
        ("no event", br#"{"session":"s"}"#.to_vec(), Code::BadInput),
        ("no type", text("{}"), Code::BadInput),
        ("unknown event", text(r#"{"type":"tool_everything"}"#), Code::EventUnknown),
        ("no tool name", text(r#"{"type":"tool_call","input":{}}"#), Code::BadInput),
        ("no input", text(r#"{"type":"tool_call","toolName":"edit"}"#), Code::BadInput),
        ("tool name of another type", text(r#"{"type":"tool_call","toolName":1,"input":{}}"#), Code::BadInput),
        ("a command without a text", text(r#"{"type":"command"}"#), Code::BadInput),
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
        let told = output["deny"].as_str().unwrap();
        assert!(told.contains(&format!("phasegate [{code}]")) && reply.status == 2, "{name}: {told}");
        let warning = warn(&frame, &problem);
        let output: Value = serde_json::from_slice(&warning.stdout).unwrap();
        assert!(warning.status == 0 && output["tell"].is_string() && output["deny"].is_null(), "{name}");
    }
}

#[test]
fn what_cannot_be_denied_is_told() {
    let bad = br#"{"event":{"type":"session_start","reason":"dream"},"session":"s"}"#.to_vec();
    let problem = decode(&Frame::new(bad.clone()), &Memory::Null).unwrap_err();
    let reply = refuse(&Frame::new(bad), &problem);
    let output: Value = serde_json::from_slice(&reply.stdout).unwrap();
    assert!(output["tell"].is_string() && output["deny"].is_null() && reply.status == 0);
}

#[test]
fn fields_that_nothing_needs_may_be_anything() {
    let text = r#"{"event":{"type":"agent_end","messages":7},"session":"s","mode":null,"loaded":[],"new":{}}"#;
    let decoded = decode(&Frame::new(text), &Memory::String("nonsense".into())).unwrap();
    assert_eq!((decoded.events.len(), decoded.memory), (1, Memory::Null));
}

#[test]
fn a_recorded_call_cut_anywhere_is_refused() {
    for (name, frames) in recordings() {
        let call = frames.into_iter().find(|frame| frame.contains("\"tool_call\""));
        let Some(frame) = call else { continue };
        for end in (0..frame.len()).step_by(5) {
            let cut = Frame::new(&frame.as_bytes()[..end]);
            let problem = open(&cut).unwrap_err();
            let reply = refuse(&cut, &problem);
            let output: Value = serde_json::from_slice(&reply.stdout).unwrap();
            assert!(output["deny"].is_string() && reply.status == 2, "{name} cut at {end}: {output}");
        }
    }
}
