//! Messages that are not the plugin's: each is a problem with a code, and each is refused in a form that the plugin honours.

use phasegate_adapter::{Frame, Memory};
use phasegate_core::Code;
use serde_json::Value;

use super::cases::{decode, open, refuse, warn};

fn frames() -> Vec<(&'static str, Vec<u8>, Code)> {
    let text = |hook: &str, rest: &str| format!(r#"{{"hook":"{hook}","session":{{"id":"s"}}{rest}}}"#).into_bytes();
    let before = "tool.execute.before";
    let deep = format!(
        r#","input":{{"tool":"x","callID":"c"}},"output":{{"args":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    vec![
        ("empty", Vec::new(), Code::BadInput),
        ("blank", b" \n".to_vec(), Code::BadInput),
        ("not JSON", b"hello".to_vec(), Code::BadInput),
        ("not an object", b"[1]".to_vec(), Code::BadInput),
        ("not UTF-8", b"{\"hook\":\"\xff\"}".to_vec(), Code::BadInput),
        ("truncated", text(before, "")[..30].to_vec(), Code::BadInput),
        ("two objects", [text("event", ""), text("event", "")].concat(), Code::BadInput),
        ("too deep", text(before, &deep), Code::BadInput),
        ("no session", br#"{"hook":"event"}"#.to_vec(), Code::BadInput),
        ("empty session", br#"{"hook":"event","session":{"id":""}}"#.to_vec(), Code::BadInput),
        ("empty root", br#"{"hook":"event","session":{"id":"s","root":""}}"#.to_vec(), Code::BadInput),
        ("session of another type", br#"{"hook":"event","session":{"id":7}}"#.to_vec(), Code::BadInput),
        ("unknown hook", text("tool.execute.around", ""), Code::EventUnknown),
        ("no call", text(before, ""), Code::BadInput),
        ("no tool", text(before, r#","input":{"callID":"c"},"output":{"args":{}}"#), Code::BadInput),
        ("no call id", text(before, r#","input":{"tool":"bash"},"output":{"args":{}}"#), Code::BadInput),
        ("no output", text(before, r#","input":{"tool":"bash","callID":"c"}"#), Code::BadInput),
        ("no event", text("event", r#","input":{}"#), Code::BadInput),
        ("event without its fields", text("event", r#","input":{"event":{"type":"session.created"}}"#), Code::BadInput),
        (
            "a tool of two servers",
            text(before, r#","servers":["a","a_b"],"input":{"tool":"a_b_c","callID":"c"},"output":{"args":{}}"#),
            Code::BadInput,
        ),
    ]
}

#[test]
fn each_is_a_problem_and_each_is_refused() {
    for (name, bytes, code) in frames() {
        let frame = Frame::new(bytes);
        let problem = match open(&frame) {
            Err(problem) => problem,
            Ok(_) => decode(&frame, &Memory::Null).map(|decoded| decoded.events).expect_err(name),
        };
        assert_eq!(problem.code, code, "{name}: {problem}");
        let reply = refuse(&frame, &problem);
        let output: Value = serde_json::from_slice(&reply.stdout).unwrap();
        let denial = output["deny"].as_str().unwrap();
        assert!(denial.contains(&format!("phasegate [{code}]")), "{name}: {denial}");
        assert_eq!((reply.status, reply.stderr.is_empty()), (2, true), "{name}");
        let warning = warn(&frame, &problem);
        let output: Value = serde_json::from_slice(&warning.stdout).unwrap();
        assert!(warning.status == 0 && output["deny"].is_null() && output["tell"].is_string(), "{name}");
    }
}

#[test]
fn what_the_bus_tells_besides_means_nothing() {
    let text = r#"{"hook":"event","session":{"id":"s"},"input":{"event":{"type":"lsp.updated","properties":{}}}}"#;
    let decoded = decode(&Frame::new(text), &Memory::Null).unwrap();
    assert!(decoded.events.is_empty() && decoded.memory.is_null());
}
