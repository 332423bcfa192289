//! What the client's bus tells.

use phasegate_adapter::Problem;
use phasegate_core::EventKind;
use phasegate_core::event::{PermissionOutcome, SessionSource};

use super::{call, closed, subagent_start};
use crate::install;
use crate::memory::Kept;
use crate::wire::{Asked, BusEvent, Created, FileChanged, MessageUpdated, Part, PartUpdated, Replied, Told};

/// The events of one telling. The bus has many kinds that mean nothing here.
pub(super) fn told(message: &Told<'_>, event: &BusEvent, kept: &mut Kept) -> Result<Vec<EventKind>, Problem> {
    Ok(match event.kind.as_str() {
        "session.created" => created(message, &event.fields::<Created>()?, kept),
        "session.idle" => idle(message, kept),
        "session.compacted" => vec![EventKind::SessionStart { source: SessionSource::Compact, parent: None }],
        "session.deleted" => deleted(message, kept),
        "message.updated" => {
            let info = event.fields::<MessageUpdated>()?.info;
            if info.role == "assistant" {
                kept.spoken(&info.id);
            }
            Vec::new()
        }
        "message.part.updated" => part(message, event.fields::<PartUpdated>()?.part, kept),
        "permission.asked" => asked(event.fields()?, kept),
        "permission.replied" => replied(&event.fields()?, kept),
        "file.edited" | "file.watcher.updated" => changed(event.fields()?),
        _ => Vec::new(),
    })
}

/// A session begins: a person's, or a subagent's.
fn created(message: &Told<'_>, created: &Created, kept: &mut Kept) -> Vec<EventKind> {
    if let Some(id) = message.head.session.subagent() {
        return if kept.agent_starts(id) { subagent_start(message, kept).into_iter().collect() } else { Vec::new() };
    }
    if kept.has_begun() {
        return Vec::new();
    }
    kept.begins();
    let source = if is_fork(&created.info.title) { SessionSource::Fork } else { SessionSource::Startup };
    vec![EventKind::SessionStart { source, parent: None }]
}

/// The client says that a session is a copy of another one in its title, and nowhere else.
fn is_fork(title: &str) -> bool {
    let number = title.trim_end().rsplit_once("(fork #").and_then(|(_, rest)| rest.strip_suffix(')'));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// A turn ended, and the session waits.
fn idle(message: &Told<'_>, kept: &mut Kept) -> Vec<EventKind> {
    kept.all_ended(&message.head.session.id);
    match message.head.session.subagent() {
        Some(id) => stopped(message, id, kept),
        None => vec![EventKind::Stop {}, EventKind::Idle {}],
    }
}

fn deleted(message: &Told<'_>, kept: &mut Kept) -> Vec<EventKind> {
    match message.head.session.subagent() {
        Some(id) => {
            kept.all_ended(id);
            stopped(message, id, kept)
        }
        None => closed(message, kept),
    }
}

fn stopped(message: &Told<'_>, id: &str, kept: &mut Kept) -> Vec<EventKind> {
    if !kept.agent_stops(id) {
        return Vec::new();
    }
    let kind = message.head.session.agent.clone().unwrap_or_default();
    vec![EventKind::SubagentStop { id: id.to_owned(), kind, message: None }]
}

/// A piece of a message: of the agent's text, of a call that no hook told the end of, or the end of all calls of one
/// message.
fn part(message: &Told<'_>, part: Part, kept: &mut Kept) -> Vec<EventKind> {
    match part {
        Part { kind, message_id: Some(id), text: Some(text), time, .. } if kind == "text" => {
            let complete = time.is_some_and(|time| time.end.is_some());
            if complete && kept.is_agents(&id) {
                vec![EventKind::Message { id, role: "assistant".into(), text, complete }]
            } else {
                Vec::new()
            }
        }
        Part { kind, call_id: Some(id), state: Some(state), .. } if kind == "tool" => match state.status.as_deref() {
            Some("completed" | "error") => call::part_ended(id, &state, kept).into_iter().collect(),
            _ => Vec::new(),
        },
        Part { kind, .. } if kind == "step-finish" => {
            kept.all_ended(&message.head.session.id);
            vec![EventKind::BatchEnd {}]
        }
        _ => Vec::new(),
    }
}

fn asked(asked: Asked, kept: &mut Kept) -> Vec<EventKind> {
    let id = asked.tool.map(|tool| tool.call_id);
    if let Some(call) = &id {
        kept.asked(&asked.id, call);
    }
    vec![EventKind::Permission { id, outcome: PermissionOutcome::Asked }]
}

fn replied(replied: &Replied, kept: &mut Kept) -> Vec<EventKind> {
    let id = kept.answered(&replied.request_id);
    let outcome = match replied.reply.as_str() {
        "once" | "always" => PermissionOutcome::Granted,
        _ => PermissionOutcome::Refused,
    };
    vec![EventKind::Permission { id, outcome }]
}

/// A file changed. Only the client's own settings and plugins matter: with them it may start without the guard.
fn changed(changed: FileChanged) -> Vec<EventKind> {
    if install::matters(&changed.file) {
        vec![EventKind::ConfigChanged { path: changed.file, unguarded: None }]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_copy_is_told_by_its_title() {
        assert!(super::is_fork("Fix the bug (fork #2)"));
        for title in ["Fix the bug", "(fork #)", "about (fork #1) of it", "(fork #x)"] {
            assert!(!super::is_fork(title), "{title}");
        }
    }
}
