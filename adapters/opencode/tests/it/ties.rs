//! Subagents are tied to the calls that started them.

use phasegate_adapter::{Frame, Playback};
use phasegate_core::Event;
use serde_json::{Value, json};

use super::cases::{adapter, open};

fn play(session: &mut Playback, frame: &Value) -> Vec<Value> {
    let message = open(&Frame::new(frame.to_string())).unwrap();
    let decoded = session.decode(adapter().codec(), &message).unwrap();
    decoded.events.iter().map(Event::to_value).collect()
}

fn call(session: &mut Playback, id: &str, tool: &str) {
    let input = json!({"tool": tool, "callID": id});
    let output = json!({"args": {"command": "x"}});
    play(session, &json!({"hook": "tool.execute.before", "session": {"id": "root"}, "input": input, "output": output}));
}

fn ended(session: &mut Playback, id: &str, output: &str) {
    let input = json!({"tool": "task", "callID": id});
    let output = json!({"output": output, "metadata": {}});
    play(session, &json!({"hook": "tool.execute.after", "session": {"id": "root"}, "input": input, "output": output}));
}

fn starter(session: &mut Playback, agent: &str) -> Value {
    let about = json!({"id": agent, "parent": "root", "root": "root", "agent": "general"});
    let event = json!({"event": {"type": "session.created", "properties": {"info": {"title": "x"}}}});
    let events = play(session, &json!({"hook": "event", "session": about, "input": event}));
    assert_eq!(events[0]["event"], "subagent_start");
    events[0]["call"].clone()
}

#[test]
fn one_open_task_is_tied_to_its_subagent() {
    let session = &mut Playback::default();
    call(session, "c0", "bash");
    call(session, "c1", "task");
    assert_eq!(starter(session, "a1"), "c1");
    call(session, "c2", "task");
    assert_eq!(starter(session, "a2"), Value::Null);
    ended(session, "c1", "<task id=\"a1\" state=\"completed\">");
    assert_eq!(starter(session, "a3"), "c2");
}

#[test]
fn a_task_in_the_background_is_tied_to_the_subagent_that_it_names() {
    let session = &mut Playback::default();
    call(session, "c1", "task");
    ended(session, "c1", "<task id=\"a1\" state=\"running\">");
    call(session, "c2", "task");
    assert_eq!(starter(session, "a1"), "c1");
    assert_eq!(starter(session, "a2"), "c2", "a call in the background has started its subagent");
}
