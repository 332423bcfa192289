//! A server's list of tools: told to the guard, without what the phase forbids, with the guard's own.

use phasegate_core::EventKind;
use phasegate_core::tool::Reading;
use serde_json::Value;
use serde_json::value::RawValue;

use super::shared::{Known, Shared, lock};
use crate::call::labels;
use crate::encode;
use crate::events;
use crate::message::{Kind, Message};
use crate::object::{Object, replaced};
use crate::own;

/// The list that the client gets. `first`: its first page; `modern`: the client keeps lists for as long as they say.
pub(super) async fn edited(shared: &Shared, server: usize, message: Message, (first, modern): (bool, bool)) -> Message {
    if message.kind() != Kind::Result {
        return message;
    }
    let name = shared.servers.get(server).map(|server| server.name.clone()).unwrap_or_default();
    let Some(event) = events::tools(&name, message.content()) else { return message };
    let EventKind::Tools { tools, .. } = &event else { return message };
    let tools = tools.clone();
    let (session, _) = shared.session_now();
    match shared.give(&session, event).await {
        Ok(Some(_)) => {}
        Ok(None) => return message,
        // A list that the guard does not know could hide that a tool changed.
        Err(problem) => {
            let failed = message.id().map(|id| encode::failed(Some(id), -32603, &problem.text(), Some(problem.code)));
            return failed.and_then(Message::made).unwrap_or(message);
        }
    }
    learn(shared, server, &tools);
    let hidden = hidden(shared, (&session, &name), &tools).await;
    let json = || {
        let result = Object::read(message.content()).ok()?;
        let raw: Vec<&RawValue> = serde_json::from_str(result.get("tools")?).ok()?;
        let kept = raw
            .iter()
            .zip(&tools)
            .zip(&hidden)
            .filter(|((_, tool), hidden)| !**hidden && !collides(shared, &name, tool));
        let mut texts: Vec<String> = kept.map(|((raw, _), _)| raw.get().to_owned()).collect();
        if first && shared.own_tools() {
            texts.extend(own::tools().iter().map(Value::to_string));
        }
        if texts.len() == raw.len() && !shared.options.hide_forbidden && !(first && shared.own_tools()) {
            return None;
        }
        let mut content = replaced(message.content(), "tools", &format!("[{}]", texts.join(",")))?;
        if modern {
            content = replaced(&content, "cacheScope", "\"private\"")?;
            if shared.options.hide_forbidden {
                content = replaced(&content, "ttlMs", "0")?;
            }
        }
        Some(content)
    };
    match json() {
        Some(content) => message.with_content(&content),
        None => message,
    }
}

/// Notes what is needed of each tool when it is called.
fn learn(shared: &Shared, server: usize, tools: &[Value]) {
    let Some(server) = shared.servers.get(server) else { return };
    let mut known = lock(&server.tools);
    for tool in tools {
        let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
        let labels = if server.trusted { labels(tool) } else { None };
        known.insert(
            name.to_owned(),
            Known { labels, declared: tool.get("outputSchema").is_some_and(Value::is_object) },
        );
    }
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
async fn hidden(shared: &Shared, (session, server): (&str, &str), tools: &[Value]) -> Vec<bool> {
    if !shared.options.hide_forbidden {
        return vec![false; tools.len()];
    }
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let known = |name: &str| {
        let found = shared.servers.iter().find(|known| known.name == server);
        found.map(|server| server.known(name)).unwrap_or_default()
    };
    let events = tools.iter().map(name).map(|tool| {
        let kind = EventKind::ToolCall {
            id: None,
            labels: known(&tool).labels,
            native: None,
            server: Some(server.to_owned()),
            input: Value::Null,
            background: false,
            reading: Reading::default(),
            tool,
        };
        phasegate_core::Event::new(session, kind)
    });
    // What cannot be asked is shown: each call is decided when it comes.
    let answers = shared.guard.probe(session, events.collect()).await.unwrap_or_default();
    let denied = answers.iter().map(|decision| !decision.lets_through());
    denied.chain(std::iter::repeat(false)).take(tools.len()).collect()
}
