//! A call that ran with other arguments than those that were decided.

use phasegate_adapter::{Frame, Memory, Problem};
use phasegate_core::Event;
use serde_json::{Value, json};

use super::cases::decode;

fn give(memory: &mut Memory, hook: &str, input: &Value, output: &Value) -> Result<Vec<Value>, Problem> {
    let frame = json!({"hook": hook, "session": {"id": "s"}, "directory": "/p", "input": input, "output": output});
    let decoded = decode(&Frame::new(frame.to_string()), memory)?;
    *memory = decoded.memory;
    Ok(decoded.events.iter().map(Event::to_value).collect())
}

fn before(memory: &mut Memory, id: &str, command: &str) -> Result<Vec<Value>, Problem> {
    let input = json!({"tool": "bash", "callID": id});
    give(memory, "tool.execute.before", &input, &json!({"args": {"command": command}}))
}

fn after(memory: &mut Memory, id: &str, command: &str) -> Vec<Value> {
    let input = json!({"tool": "bash", "callID": id, "args": {"command": command}});
    give(memory, "tool.execute.after", &input, &json!({"output": "", "metadata": {"exit": 0}})).unwrap()
}

#[test]
fn it_proves_nothing_and_nothing_is_decided_after_it() {
    let memory = &mut Memory::Null;
    before(memory, "1", "cargo test").unwrap();
    assert_eq!(after(memory, "1", "cargo test")[0]["outcome"], "ok");
    before(memory, "2", "cargo test").unwrap();
    assert_eq!(after(memory, "2", "touch other")[0]["outcome"], "unknown");
    let problem = before(memory, "3", "cargo test").unwrap_err();
    assert!(problem.message.contains("another plugin"), "{problem}");
    assert_eq!(give(memory, "session.opened", &json!({}), &Value::Null).unwrap()[0]["source"], "resume");
    before(memory, "4", "cargo test").expect("the client was started anew");
}

#[test]
fn a_part_shows_it_as_well() {
    let memory = &mut Memory::Null;
    before(memory, "1", "cargo test").unwrap();
    let state = json!({"status": "completed", "input": {"command": "touch other"}, "metadata": {"exit": 0}});
    let part = json!({"type": "tool", "callID": "1", "state": state});
    let event = json!({"event": {"type": "message.part.updated", "properties": {"part": part}}});
    assert_eq!(give(memory, "event", &event, &Value::Null).unwrap()[0]["outcome"], "unknown");
    before(memory, "2", "cargo test").unwrap_err();
}
