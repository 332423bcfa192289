//! A frame as neutral events.

mod bus;
mod call;

use phasegate_adapter::{Decoded, Message, Problem, SessionView};
use phasegate_core::event::{Agent, By, SessionSource};
use phasegate_core::{Code, Event, EventKind, slash_command};
use serde_json::Value;

use crate::memory::Kept;
use crate::wire::{Bus, Chat, Command, Told};

/// Turns one frame into events.
pub(crate) fn decode(message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let message = Told::of(message)?;
    let mut kept = Kept::from_memory(session.memory());
    let kinds = kinds(&message, &mut kept)?;
    let mut event = envelope(&message);
    let events = kinds
        .into_iter()
        .map(|kind| {
            event.cwd = cwd(&message, &kind);
            event.kind = kind;
            event.clone()
        })
        .collect();
    Ok(Decoded { events, memory: kept.into_memory() })
}

/// Who and in which session, with any kind.
fn envelope(message: &Told<'_>) -> Event {
    let session = &message.head.session;
    let agent = session.subagent().map(|id| Agent {
        id: id.to_owned(),
        kind: session.agent.clone().unwrap_or_default(),
        parent: session.parent.clone().filter(|parent| parent != session.root()),
    });
    Event { agent, ..Event::new(session.root(), EventKind::Idle {}) }
}

/// The folder in which an event happens: a line of the shell may have one of its own.
fn cwd(message: &Told<'_>, kind: &EventKind) -> Option<String> {
    let own = match kind {
        EventKind::ToolCall { tool, input, server: None, .. } if tool == "Bash" => {
            input.get("workdir").and_then(Value::as_str)
        }
        _ => None,
    };
    match (message.head.directory.as_deref(), own) {
        (Some(directory), Some(own)) => Some(std::path::Path::new(directory).join(own).display().to_string()),
        (directory, own) => own.or(directory).map(str::to_owned),
    }
}

fn kinds(message: &Told<'_>, kept: &mut Kept) -> Result<Vec<EventKind>, Problem> {
    Ok(match message.head.hook.as_str() {
        "tool.execute.before" => call::before(message, kept)?,
        "tool.execute.after" => call::after(message, kept)?.into_iter().collect(),
        "chat.message" => prompted(message, kept)?,
        "command.execute.before" => vec![command(message)?],
        "experimental.session.compacting" => vec![EventKind::Compact {}],
        "session.opened" => opened(message, kept),
        "session.closed" => closed(message, kept),
        "event" => bus::told(message, &message.input::<Bus>()?.event, kept)?,
        other => {
            return Err(Problem::new(Code::EventUnknown, format!("the hook `{other}` is not known")));
        }
    })
}

/// A prompt reaches a session. In a subagent's it is the words of the agent that started it.
fn prompted(message: &Told<'_>, kept: &mut Kept) -> Result<Vec<EventKind>, Problem> {
    let session = &message.head.session;
    let chat = message.output::<Chat>()?;
    let mut parts = chat.parts;
    parts.retain(|part| part.kind == "text" && part.text.is_some());
    // The client itself speaks where no part is a person's: that something in the background is over.
    let typed = parts.iter().any(|part| !part.synthetic);
    let written = parts.into_iter().filter(|part| part.synthetic != typed).filter_map(|part| part.text);
    let text = written.collect::<Vec<_>>().join("\n");
    let Some(id) = session.subagent() else {
        // While a call runs, the keys may be its own: the client takes prompts through a server, too.
        let interactive = if typed && !kept.busy() { message.head.terminal } else { Some(false) };
        // The agent gets it when its turn is over: until then its calls go on.
        if kept.works(&session.id) && !slash_command::addressed(&text) {
            return Ok(vec![EventKind::Message { id: chat.message.id, role: "user".into(), text, complete: true }]);
        }
        return Ok(vec![EventKind::Prompt { text, interactive }]);
    };
    let starts = kept.agent_starts(id).then(|| subagent_start(message, kept));
    Ok(starts.into_iter().flatten().chain([EventKind::Prompt { text, interactive: Some(false) }]).collect())
}

/// A subagent's session begins, or goes on with another prompt.
fn subagent_start(message: &Told<'_>, kept: &Kept) -> Option<EventKind> {
    let session = &message.head.session;
    let id = session.subagent()?;
    let call = session.parent.as_deref().and_then(|parent| kept.starter(parent, id));
    let kind = session.agent.clone().unwrap_or_default();
    Some(EventKind::SubagentStart { id: id.to_owned(), kind, call, prompt: None })
}

/// A `/name` that becomes a prompt: a skill's name, or a command's. The client makes no call for it.
fn command(message: &Told<'_>) -> Result<EventKind, Problem> {
    let command = message.input::<Command>()?;
    let args = command.arguments.filter(|args| !args.is_empty()).map(Value::String);
    Ok(EventKind::Skill { name: command.command.trim_start_matches('/').to_owned(), args, by: By::Human })
}

/// A process meets a session that it did not begin.
fn opened(message: &Told<'_>, kept: &mut Kept) -> Vec<EventKind> {
    if message.head.session.subagent().is_some() {
        return Vec::new();
    }
    kept.begins();
    vec![EventKind::SessionStart { source: SessionSource::Resume, parent: None }]
}

/// The process that served a session ends.
fn closed(message: &Told<'_>, kept: &mut Kept) -> Vec<EventKind> {
    if message.head.session.subagent().is_some() || !kept.has_begun() {
        return Vec::new();
    }
    *kept = Kept::default();
    vec![EventKind::SessionEnd {}]
}
