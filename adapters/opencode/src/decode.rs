//! A frame as neutral events.

use phasegate_adapter::{Decoded, Message, Problem, SessionView};
use phasegate_core::commands::slash_command;
use phasegate_core::events::event::{Agent, By};
use phasegate_core::shell::safety::REGISTER;
use phasegate_core::{Code, Event, EventKind};
use serde_json::Value;

use crate::decoding::Decoding;
use crate::wire::{Bus, Chat, Chosen, Command, Registered, Told};
use crate::{bus, call};

/// Turns one message into events.
pub(crate) fn decode(message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let mut decoding = Decoding::of(message, session)?;
    let kinds = kinds(&mut decoding)?;
    let mut event = envelope(&decoding.told);
    event.permission_mode = mode(&decoding.told);
    let events = kinds
        .into_iter()
        .map(|kind| {
            event.cwd = cwd(&decoding.told, &kind);
            event.kind = kind;
            event.clone()
        })
        .collect();
    Ok(Decoded { events, memory: decoding.into_memory() })
}

/// Who and in which session, with any kind.
fn envelope(told: &Told<'_>) -> Event {
    let session = &told.head.session;
    let agent = session.subagent().map(|id| Agent {
        id: id.to_owned(),
        kind: session.agent.clone().unwrap_or_default(),
        parent: session.parent.clone().filter(|parent| parent != session.root()),
    });
    Event { agent, ..Event::new(session.root(), EventKind::Idle {}) }
}

/// The agent that the user has chosen for the prompt, `plan` for one: the client's own modes.
fn mode(told: &Told<'_>) -> Option<String> {
    let chosen = told.head.hook == "chat.message" && told.head.session.subagent().is_none();
    let agent = || told.input::<Chosen>().ok()?.agent;
    if chosen { agent() } else { None }
}

/// The folder in which an event happens: a line of the shell may have one of its own.
fn cwd(told: &Told<'_>, kind: &EventKind) -> Option<String> {
    let own = match kind {
        EventKind::ToolCall { tool, input, server: None, .. } if tool == "Bash" => {
            input.get("workdir").and_then(Value::as_str)
        }
        _ => None,
    };
    match (told.head.directory.as_deref(), own) {
        (Some(directory), Some(own)) => Some(std::path::Path::new(directory).join(own).display().to_string()),
        (directory, own) => own.or(directory).map(str::to_owned),
    }
}

fn kinds(decoding: &mut Decoding<'_>) -> Result<Vec<EventKind>, Problem> {
    Ok(match decoding.told.head.hook.as_str() {
        "tool.execute.before" => call::before(decoding)?,
        "tool.execute.after" => call::after(decoding)?.into_iter().collect(),
        "chat.message" => prompted(decoding)?,
        "command.execute.before" => vec![command(&decoding.told)?],
        REGISTER => vec![registered(decoding.told.input()?)],
        "experimental.session.compacting" => vec![EventKind::Compact {}],
        "session.opened" => decoding.opened(),
        "session.closed" => decoding.closed(),
        "event" => bus::told(&decoding.told.input::<Bus>()?.event, decoding)?,
        other => {
            return Err(Problem::new(Code::EventUnknown, format!("the hook `{other}` is not known")));
        }
    })
}

/// A prompt reaches a session. In a subagent's it is the words of the agent that started it.
fn prompted(decoding: &Decoding<'_>) -> Result<Vec<EventKind>, Problem> {
    let chat = decoding.told.output::<Chat>()?;
    let mut parts = chat.parts;
    parts.retain(|part| part.kind == "text" && part.text.is_some());
    // A message without a part of a person is the client's own: a background task ended.
    let typed = parts.iter().any(|part| !part.synthetic);
    let written = parts.into_iter().filter(|part| part.synthetic != typed).filter_map(|part| part.text);
    let text = written.collect::<Vec<_>>().join("\n");
    let text = if decoding.told.head.terminal == Some(true) { text } else { as_typed(text) };
    if decoding.subagent().is_some() {
        let prompt = EventKind::Prompt { text, interactive: Some(false) };
        return Ok(decoding.subagent_started(None).into_iter().chain([prompt]).collect());
    }
    // While a call runs, the keys may be its own: the client takes prompts through a server, too.
    let interactive = if typed && !decoding.is_busy() { decoding.told.head.terminal } else { Some(false) };
    // The agent gets it at the end of its turn: until then its calls continue.
    if decoding.main_agent_works() && !slash_command::addressed(&text) {
        return Ok(vec![EventKind::Message { id: chat.message.id, role: "user".into(), text, complete: true }]);
    }
    Ok(vec![EventKind::Prompt { text, interactive }])
}

/// The argument of `opencode run`, which the client puts between quotes if it has a space.
fn as_typed(text: String) -> String {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.contains(' ') => inside.replace("\\\"", "\""),
        _ => text,
    }
}

/// A call of the plugin's own tool, by which the agent says what commands do.
fn registered(given: Registered) -> EventKind {
    EventKind::Command { by: By::Agent, name: REGISTER.into(), args: given.args }
}

/// A `/name` that becomes a prompt: a skill's name, or a command's. The client makes no call for it.
fn command(told: &Told<'_>) -> Result<EventKind, Problem> {
    let command = told.input::<Command>()?;
    let args = command.arguments.filter(|args| !args.is_empty()).map(Value::String);
    Ok(EventKind::Skill { name: command.command.trim_start_matches('/').to_owned(), args, by: By::Human })
}
