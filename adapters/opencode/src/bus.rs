//! What the client's bus tells.

use phasegate_adapter::Problem;
use phasegate_core::EventKind;
use phasegate_core::events::event::{PermissionOutcome, SessionSource};

use crate::call;
use crate::decoding::Decoding;
use crate::install;
use crate::wire::{Asked, BusEvent, Created, FileChanged, Idle, MessageUpdated, Part, PartUpdated, Replied};

/// The events of one event of the bus. The bus has many kinds that mean nothing here.
pub(crate) fn told(event: &BusEvent, decoding: &mut Decoding<'_>) -> Result<Vec<EventKind>, Problem> {
    Ok(match event.kind.as_str() {
        "session.created" => created(&event.fields::<Created>()?, decoding),
        "session.idle" => idle(&event.fields()?, decoding),
        "session.compacted" => vec![EventKind::SessionStart { source: SessionSource::Compact, parent: None }],
        "session.deleted" => deleted(decoding),
        "message.updated" => {
            let info = event.fields::<MessageUpdated>()?.info;
            if info.role == "assistant" {
                decoding.memory.note_message(&info.id);
            }
            Vec::new()
        }
        "message.part.updated" => part(event.fields::<PartUpdated>()?.part, decoding),
        "permission.asked" => asked(event.fields()?, decoding),
        "permission.replied" => replied(&event.fields()?, decoding),
        "file.edited" | "file.watcher.updated" => changed(event.fields()?),
        _ => Vec::new(),
    })
}

/// A session begins: a person's, or a subagent's.
fn created(created: &Created, decoding: &mut Decoding<'_>) -> Vec<EventKind> {
    if decoding.subagent().is_some() {
        return decoding.subagent_started(Some(&created.info.title)).into_iter().collect();
    }
    if decoding.session.is_running() {
        return Vec::new();
    }
    let source = if is_fork(&created.info.title) { SessionSource::Fork } else { SessionSource::Startup };
    vec![EventKind::SessionStart { source, parent: None }]
}

/// The client says that a session is a copy of another one in its title, and nowhere else.
fn is_fork(title: &str) -> bool {
    let number = title.trim_end().rsplit_once("(fork #").and_then(|(_, rest)| rest.strip_suffix(')'));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// A turn ended, and the session waits. It can go on only where the agent ended it by itself: not after an interrupt or an
/// error. A client that shows no terminal may serve a person elsewhere.
fn idle(waits: &Idle, decoding: &Decoding<'_>) -> Vec<EventKind> {
    match decoding.subagent() {
        Some(_) => decoding.subagent_stopped().into_iter().collect(),
        None => {
            let can_hold = matches!(waits.finish.as_deref(), Some("stop" | "length"));
            let interactive = decoding.told.head.terminal.filter(|terminal| *terminal);
            vec![EventKind::Stop { can_hold, interactive }, EventKind::Idle {}]
        }
    }
}

fn deleted(decoding: &mut Decoding<'_>) -> Vec<EventKind> {
    match decoding.subagent() {
        Some(_) => decoding.subagent_stopped().into_iter().collect(),
        None => decoding.closed(),
    }
}

/// A piece of a message: of the agent's text, of a call whose end no hook reported, or the end of all calls of one
/// message.
fn part(part: Part, decoding: &mut Decoding<'_>) -> Vec<EventKind> {
    match part {
        Part { kind, message_id: Some(id), text: Some(text), time, .. } if kind == "text" => {
            let complete = time.is_some_and(|time| time.end.is_some());
            if complete && decoding.memory.is_agents(&id) {
                vec![EventKind::Message { id, role: "assistant".into(), text, complete }]
            } else {
                Vec::new()
            }
        }
        Part { kind, call_id: Some(id), tool, state: Some(state), .. } if kind == "tool" => {
            match state.status.as_deref() {
                Some("completed" | "error") => {
                    call::part_ended(id, tool.as_deref(), &state, decoding).into_iter().collect()
                }
                _ => Vec::new(),
            }
        }
        Part { kind, .. } if kind == "step-finish" => vec![EventKind::BatchEnd {}],
        _ => Vec::new(),
    }
}

fn asked(asked: Asked, decoding: &mut Decoding<'_>) -> Vec<EventKind> {
    let id = asked.tool.map(|tool| tool.call_id);
    if let Some(call) = &id {
        decoding.memory.asked(&asked.id, call);
    }
    vec![EventKind::Permission { id, outcome: PermissionOutcome::Asked }]
}

fn replied(replied: &Replied, decoding: &mut Decoding<'_>) -> Vec<EventKind> {
    let id = decoding.memory.answered(&replied.request_id);
    let outcome = match replied.reply.as_str() {
        "once" | "always" => PermissionOutcome::Granted,
        _ => PermissionOutcome::Refused,
    };
    vec![EventKind::Permission { id, outcome }]
}

/// A file changed. Only the client's own settings and plugins matter: with them it may start without the guard.
fn changed(changed: FileChanged) -> Vec<EventKind> {
    if install::matters(&changed.file) {
        vec![EventKind::ConfigChanged { path: changed.file, unguarded: None, at_once: false }]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::{Codec as _, Frame, Memory, SessionView};
    use phasegate_core::EventKind;
    use serde_json::{Value, json};

    use crate::OpenCode;

    #[test]
    fn only_an_agent_that_stops_by_itself_can_go_on() {
        for (finish, terminal, can_hold, interactive) in [
            (json!("stop"), true, true, Some(true)),
            (json!("length"), false, true, None),
            (json!("error"), true, false, Some(true)),
            (json!("tool-calls"), true, false, Some(true)),
            (json!("summary"), true, false, Some(true)),
            (Value::Null, false, false, None),
        ] {
            let event = json!({"type": "session.idle", "properties": {"sessionID": "s", "finish": finish}});
            let frame =
                json!({"hook": "event", "session": {"id": "s"}, "terminal": terminal, "input": {"event": event}});
            let message = OpenCode.open(&Frame::new(frame.to_string())).unwrap();
            let decoded = OpenCode.decode(&message, &SessionView::new(&Memory::Null, None)).unwrap();
            let kinds: Vec<_> = decoded.events.into_iter().map(|event| event.kind).collect();
            assert_eq!(kinds, [EventKind::Stop { can_hold, interactive }, EventKind::Idle {}], "{frame}");
        }
    }

    #[test]
    fn a_copy_is_told_by_its_title() {
        assert!(super::is_fork("Fix the bug (fork #2)"));
        for title in ["Fix the bug", "(fork #)", "about (fork #1) of it", "(fork #x)"] {
            assert!(!super::is_fork(title), "{title}");
        }
    }
}
