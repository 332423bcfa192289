//! A call that ran with other arguments than those that were decided.

use phasegate_adapter::{Frame, Playback, Problem};
use phasegate_core::Event;
use serde_json::{Value, json};

use super::cases::{adapter, open};

fn give(played: &mut Playback, hook: &str, input: &Value, output: &Value) -> Result<Vec<Value>, Problem> {
    let frame = json!({"hook": hook, "session": {"id": "s"}, "directory": "/p", "input": input, "output": output});
    let decoded = played.decode(adapter().codec(), &open(&Frame::new(frame.to_string()))?)?;
    Ok(decoded.events.iter().map(Event::to_value).collect())
}

fn before(played: &mut Playback, id: &str, command: &str) -> Result<Vec<Value>, Problem> {
    let input = json!({"tool": "bash", "callID": id});
    give(played, "tool.execute.before", &input, &json!({"args": {"command": command}}))
}

fn after(played: &mut Playback, id: &str, command: &str) -> Vec<Value> {
    let input = json!({"tool": "bash", "callID": id, "args": {"command": command}});
    give(played, "tool.execute.after", &input, &json!({"output": "", "metadata": {"exit": 0}})).unwrap()
}

#[test]
fn it_proves_nothing_and_nothing_is_decided_after_it() {
    let played = &mut Playback::default();
    before(played, "1", "cargo test").unwrap();
    assert_eq!(after(played, "1", "cargo test")[0]["outcome"], "ok");
    before(played, "2", "cargo test").unwrap();
    assert_eq!(after(played, "2", "touch other")[0]["outcome"], "unknown");
    let problem = before(played, "3", "cargo test").unwrap_err();
    assert!(problem.message.contains("another plugin"), "{problem}");
    assert_eq!(give(played, "session.opened", &json!({}), &Value::Null).unwrap()[0]["source"], "resume");
    before(played, "4", "cargo test").expect("the client was started anew");
}

#[test]
fn a_part_shows_it_as_well() {
    let played = &mut Playback::default();
    before(played, "1", "cargo test").unwrap();
    let state = json!({"status": "completed", "input": {"command": "touch other"}, "metadata": {"exit": 0}});
    let part = json!({"type": "tool", "callID": "1", "state": state});
    let event = json!({"event": {"type": "message.part.updated", "properties": {"part": part}}});
    assert_eq!(give(played, "event", &event, &Value::Null).unwrap()[0]["outcome"], "unknown");
    before(played, "2", "cargo test").unwrap_err();
}
