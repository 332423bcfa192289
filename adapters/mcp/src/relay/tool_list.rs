//! A server's list of tools: told to the guard, without what the phase forbids, with the guard's own.

use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_adapter::guarded::{GuardedSession, every_call};
use phasegate_core::values::canonical::Sorted;
use phasegate_core::{Code, EventKind};
use serde_json::Value;
use serde_json::value::RawValue;

use super::listed_tools::ListedTool;
use super::pending::ListPage;
use super::server::NAME_SEPARATOR;
use super::shared::Shared;
use crate::encode;
use crate::events;
use crate::message::object::{Object, replaced};
use crate::message::own;
use crate::message::{Kind, Message};
use crate::sync::lock;

/// What of a list the client gets.
pub(super) enum Entries {
    /// All of it, as it is: nothing guards the project.
    Plain,
    /// These tools.
    Edited(Vec<String>),
}

/// The list that the client gets.
pub(super) async fn edited(shared: &Shared, server: usize, message: Message, page: ListPage) -> Message {
    let mut texts = match entries(shared, server, &message, page.first).await {
        Ok(Entries::Plain) => return message,
        Ok(Entries::Edited(texts)) => texts,
        // A list that the guard does not know could hide that a tool changed.
        Err(problem) => {
            let failed = message.id().map(|id| encode::failed(Some(id), -32603, &problem.text(), Some(problem.code)));
            return failed.and_then(Message::made).unwrap_or(message);
        }
    };
    let adds = page.first && shared.own_tools();
    if adds {
        texts.extend(own::tools().iter().map(|tool| Sorted(tool).to_string()));
    }
    let declares = declares_handles(shared, page);
    if declares {
        texts = texts.iter().map(|text| with_handle(text)).collect();
    }
    let content = || {
        let result = Object::read(message.content()).ok()?;
        let before: Vec<&RawValue> = serde_json::from_str(result.get("tools")?).ok()?;
        if before.len() == texts.len() && !adds && !declares && !shared.options.hide_forbidden {
            return None;
        }
        let mut content = replaced(message.content(), "tools", &format!("[{}]", texts.join(",")))?;
        if page.modern {
            content = replaced(&content, "cacheScope", "\"private\"")?;
            if shared.options.hide_forbidden {
                content = replaced(&content, "ttlMs", "0")?;
            }
        }
        Some(content)
    };
    match content() {
        Some(content) => message.with_content(&content),
        None => message,
    }
}

/// Whether the tools of a list take handles: those for a client without a session do, where it can have one.
pub(super) fn declares_handles(shared: &Shared, page: ListPage) -> bool {
    #[cfg(feature = "http")]
    return shared.options.handles && page.modern;
    #[cfg(not(feature = "http"))]
    {
        let _ = (shared, page);
        false
    }
}

/// A tool that takes a handle.
pub(super) fn with_handle(text: &str) -> String {
    let Ok(mut tool) = serde_json::from_str(text) else { return text.to_owned() };
    own::takes_handle(&mut tool);
    tool.to_string()
}

/// The tools of one server's answer, told to the guard, without those that are hidden or have a name of ours. `first`: it
/// is the list's first page.
///
/// # Errors
///
/// The guard could not work, or what the list says is in doubt.
pub(super) async fn entries(
    shared: &Shared,
    server: usize,
    message: &Message,
    first: bool,
) -> Result<Entries, Problem> {
    let name = shared.servers.get(server).map(|server| server.name.clone()).unwrap_or_default();
    if message.kind() != Kind::Result {
        return Ok(Entries::Plain);
    }
    let mut event = match events::tools(&name, message.content()) {
        Ok(event) => event,
        Err(_) if shared.calls.unguarded().await => return Ok(Entries::Plain),
        // What cannot be pinned is not shown: a client may read it all the same.
        Err(text) => {
            let text = format!("the server `{name}` lists its tools in a form that is in doubt: {text}");
            return Err(Problem::new(Code::BadInput, text));
        }
    };
    let EventKind::Tools { tools: told, .. } = &mut event else { return Ok(Entries::Plain) };
    let tools = told.clone();
    told.extend(note(shared, server, &tools, first));
    let session = shared.session_now();
    if shared.give(&session, event).await?.is_none() {
        return Ok(Entries::Plain);
    }
    let hidden = hidden(shared, &session, &name, &tools).await;
    let result = Object::read(message.content()).unwrap_or_default();
    let raw: Vec<&RawValue> = result.get("tools").and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
    let kept = raw.iter().zip(&tools).zip(&hidden);
    let kept = kept.filter(|((_, tool), hidden)| !**hidden && !collides(shared, &name, tool));
    Ok(Entries::Edited(kept.map(|((raw, _), _)| renamed(shared, server, raw.get())).collect()))
}

/// A tool or prompt under the name that the client gets: with its server's, where there are several.
pub(super) fn renamed(shared: &Shared, server: usize, json: &str) -> String {
    let renamed = || {
        let server = shared.servers.get(server).filter(|_| shared.servers.len() > 1)?;
        let name = Object::read(json.as_bytes()).ok()?.text("name")?;
        let name = Value::from(format!("{}{NAME_SEPARATOR}{name}", server.name)).to_string();
        String::from_utf8(replaced(json.as_bytes(), "name", &name)?).ok()
    };
    renamed().unwrap_or_else(|| json.to_owned())
}

/// Notes the tools of a page. What earlier pages of the same list said of tools that this page describes otherwise: which
/// description the client takes is not known.
fn note(shared: &Shared, server: usize, tools: &[Value], first: bool) -> Vec<Value> {
    let Some(server) = shared.servers.get(server) else { return Vec::new() };
    let (mut known, mut listed) = (lock(&server.tools), lock(&server.listed));
    if first {
        listed.clear();
    }
    let note = |tool: &Value| {
        let tool = ListedTool::of(tool)?;
        known.put(Arc::clone(&tool));
        listed.put_first(tool)
    };
    tools.iter().filter_map(note).collect()
}

/// Whether a server's tool has the name of one of ours, which wins: the guard is not replaced by what it guards.
fn collides(shared: &Shared, server: &str, tool: &Value) -> bool {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let collides = shared.servers.len() == 1 && shared.own_tools() && own::is_own(name);
    if collides {
        tracing::warn!("the tool `{name}` of the server `{server}` is left out: the guard's own has that name");
    }
    collides
}

/// Which tools the current phase forbids, whatever their arguments.
async fn hidden(shared: &Shared, session: &GuardedSession, server: &str, tools: &[Value]) -> Vec<bool> {
    if !shared.options.hide_forbidden {
        return vec![false; tools.len()];
    }
    let found = shared.servers.iter().find(|known| known.name == server);
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let calls = tools.iter().map(name).map(|tool| {
        let labels = found.and_then(|server| server.known(&tool).labels);
        every_call(&tool, Some(server), labels)
    });
    shared.calls.forbidden(session, calls.collect()).await
}
