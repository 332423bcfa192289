//! Messages that do not name their call are tied to it by the calls that are open.

use phasegate_adapter::{Frame, Playback};
use phasegate_core::Event;
use serde_json::{Value, json};

use super::cases::{adapter, open};

fn play(session: &mut Playback, event: &str, by: &str, mut fields: Value) -> Value {
    fields["session_id"] = "s".into();
    fields["hook_event_name"] = event.into();
    if !by.is_empty() {
        fields["agent_id"] = by.into();
    }
    let message = open(&Frame::new(fields.to_string())).unwrap();
    let decoded = session.decode(adapter().codec(), &message).unwrap();
    decoded.events.first().map(Event::to_value).unwrap_or_default()
}

fn call(session: &mut Playback, id: &str, by: &str, tool: &str) {
    let input = json!({"a": 1, "b": 2});
    play(session, "PreToolUse", by, json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}));
}

fn ended(session: &mut Playback, id: &str, tool: &str) {
    let fields =
        json!({"tool_name": tool, "tool_input": {}, "tool_response": {"status": "completed"}, "tool_use_id": id});
    play(session, "PostToolUse", "", fields);
}

fn starter(session: &mut Playback, agent: &str) -> Value {
    play(session, "SubagentStart", "", json!({"agent_id": agent, "agent_type": "general"}))["call"].clone()
}

#[test]
fn one_open_call_is_tied_to_its_subagent() {
    let session = &mut Playback::default();
    call(session, "c0", "", "Bash");
    call(session, "c1", "", "Agent");
    assert_eq!(starter(session, "a1"), "c1");
    call(session, "c2", "a1", "Agent");
    assert_eq!(starter(session, "a2"), "c2");
    assert_eq!(starter(session, "a3"), Value::Null);
}

#[test]
fn two_open_calls_tie_nothing_until_it_is_clear_again() {
    let session = &mut Playback::default();
    call(session, "c1", "", "Agent");
    call(session, "c2", "", "Skill");
    assert_eq!(starter(session, "a0"), Value::Null);
    let session = &mut Playback::default();
    call(session, "c1", "", "Agent");
    call(session, "c2", "", "Agent");
    assert_eq!(starter(session, "a1"), Value::Null);
    ended(session, "c2", "Agent");
    assert_eq!(starter(session, "a2"), Value::Null, "c1 may have started a1 or a2");
    for agent in ["a1", "a2"] {
        play(session, "SubagentStop", "", json!({"agent_id": agent, "agent_type": "general"}));
    }
    ended(session, "c1", "Agent");
    call(session, "c3", "", "Agent");
    assert_eq!(starter(session, "a3"), "c3");
}

#[test]
fn equal_calls_are_found_newest_first() {
    let session = &mut Playback::default();
    call(session, "c1", "", "Bash");
    call(session, "c2", "", "Bash");
    call(session, "c3", "a1", "Bash");
    let mut asked = |tool: &str| {
        let fields = json!({"tool_name": tool, "tool_input": {"b": 2, "a": 1}});
        play(session, "PermissionRequest", "", fields)["id"].clone()
    };
    assert_eq!((asked("Bash"), asked("Edit")), (json!("c2"), Value::Null));
}
