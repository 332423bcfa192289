//! A frame as neutral events.

use phasegate_adapter::{Decoded, Message as Opened, Problem, SessionView};
use phasegate_core::event::{Outcome, SessionSource};
use phasegate_core::{Code, Event, EventKind};

use crate::call::{self, Call};
use crate::events::{self, Named};
use crate::frame::{self, From};
use crate::id::Id;
use crate::message::{Kind, Message};
use crate::object::Object;
use crate::outcome;
use crate::own;
use crate::pairing::{Asked, Pairing};

/// Turns one frame into events.
pub(crate) fn decode(opened: &Opened, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let (seen, problem) = frame::seen(opened)?;
    let mut pairing = Pairing::from_memory(session.memory());
    let server = call::server_name(&seen.server);
    let kinds = match (&seen.message, problem) {
        (_, Some(problem)) => return Err(problem),
        (None, None) => {
            pairing = Pairing::default();
            vec![EventKind::SessionEnd {}]
        }
        (Some(message), None) => match seen.from {
            From::Client => from_client(message, &server, &mut pairing)?,
            From::Server => from_server(message, &server, &mut pairing),
        },
    };
    let events = kinds.into_iter().map(|kind| Event::new(&opened.session, kind)).collect();
    Ok(Decoded { events, memory: pairing.into_memory() })
}

/// What belongs to a request of a server: the id that its events have too.
fn key(server: &str, id: &Id) -> String {
    format!("{server}:{id}")
}

fn from_client(message: &Message, server: &str, pairing: &mut Pairing) -> Result<Vec<EventKind>, Problem> {
    let mut events = Vec::new();
    if !pairing.started {
        pairing.started = true;
        events.push(EventKind::SessionStart { source: SessionSource::Startup, parent: None });
    }
    let method = message.method().unwrap_or_default();
    if call::passes_for_a_call(method) || (method == call::METHOD && message.kind() != Kind::Request) {
        return Err(Problem::new(
            Code::BadInput,
            format!("`{method}` in a form that calls a tool for some servers only"),
        ));
    }
    let Some(id) = message.id().filter(|_| message.kind() == Kind::Request) else {
        events.extend(cancelled(message, server, pairing));
        return Ok(events);
    };
    let key = key(server, id);
    match method {
        call::METHOD => {
            let call = Call::read(message).map_err(|text| Problem::new(Code::BadInput, text))?;
            if own::is_own(&call.name) {
                events.push(own::command(&call));
            } else {
                pairing.asked.insert(key.clone(), Asked::Call(call.name.clone()));
                let named = Named { id: key, server, tool: &call.name, labels: None };
                events.push(events::tool_call(&call, named));
            }
        }
        "tools/list" => drop(pairing.asked.insert(key, Asked::List)),
        "tasks/get" | "tasks/result" => {
            if let Some(task) = Object::read(message.content()).ok().and_then(|params| params.text("taskId")) {
                pairing.asked.insert(key, Asked::Task(task));
            }
        }
        _ => {}
    }
    Ok(events)
}

/// The call that the client gave up, if the message says so.
fn cancelled(message: &Message, server: &str, pairing: &mut Pairing) -> Option<EventKind> {
    if message.method() != Some("notifications/cancelled") {
        return None;
    }
    let id = Id::read(Object::read(message.content()).ok()?.get("requestId")?.as_bytes())?;
    let key = key(server, &id);
    match pairing.asked.remove(&key)? {
        Asked::Call(tool) => Some(events::tool_result(key, &tool, Outcome::Cancelled)),
        Asked::List | Asked::Task(_) => None,
    }
}

fn from_server(message: &Message, server: &str, pairing: &mut Pairing) -> Vec<EventKind> {
    let answers = matches!(message.kind(), Kind::Result | Kind::Error);
    let Some(id) = message.id().filter(|_| answers) else { return Vec::new() };
    let key = key(server, id);
    let event = match pairing.asked.remove(&key) {
        None => None,
        Some(Asked::List) => events::tools(server, message.content()).ok().filter(|_| message.kind() == Kind::Result),
        Some(Asked::Call(tool)) => {
            let ending = outcome::of_answer(message);
            if let Some(task) = ending.task {
                pairing.tasks.insert(format!("{server}:{task}"), (key.clone(), tool.clone()));
            }
            Some(events::tool_result(key, &tool, ending.outcome))
        }
        Some(Asked::Task(task)) => {
            let task = format!("{server}:{task}");
            let outcome = outcome::of_task_answer(message);
            outcome.zip(pairing.tasks.get(&task).cloned()).map(|(outcome, (call, tool))| {
                pairing.tasks.remove(&task);
                events::tool_result(call, &tool, outcome)
            })
        }
    };
    event.into_iter().collect()
}
