//! Several servers behind one relay: routes requests to one server, and merges the answers of all.
//!
//! A tool or prompt is called `SERVER__NAME`. Resources keep their addresses and belong to the server that listed them
//! first; one that no server has listed is asked of all. Requests for lists go to all servers, and so does the handshake. A
//! request that names no server or address is refused.

use std::collections::BTreeMap;

use super::act::Act;
use super::pending::{FanOut, ListPage, Pending, Question};
use super::server::NAME_SEPARATOR;
use super::shared::Shared;
use crate::encode;
use crate::message::id::Id;
use crate::message::object::{Object, replaced};
use crate::message::tool_call::{METHOD, modern};
use crate::message::{Kind, Message};
use crate::sync::lock;

/// Where a request other than a call goes.
pub(super) fn route(shared: &Shared, message: Message, id: Id, method: &str) -> Act {
    let params = Object::read(message.content()).unwrap_or_default();
    let refuse = |number, text: &str| Act::Answer(id.clone(), encode::failed(Some(&id), number, text, None));
    let question = match method {
        "ping" => return Act::Answer(id.clone(), encode::answered(&id, "{}")),
        "initialize" => Question::Initialize,
        "server/discover" => Question::Discover,
        "logging/setLevel" => Question::Nothing,
        "tools/list" => Question::List("tools"),
        "prompts/list" => Question::List("prompts"),
        "resources/list" => Question::List("resources"),
        "resources/templates/list" => Question::List("resourceTemplates"),
        _ => match (single(shared, &message, &params, method), unlisted(&params, method)) {
            (Some((server, message)), _) => {
                let task = params.text("taskId").filter(|_| matches!(method, "tasks/get" | "tasks/result"));
                return Act::Ask(server, message, task.map_or(Pending::Plain, Pending::Task));
            }
            (None, Some(question)) => question,
            (None, None) if params.text("uri").is_some() || params.text("name").is_some() => {
                return refuse(-32602, "no server has what is asked for");
            }
            (None, None) => {
                return refuse(-32601, &format!("`{method}` does not say which of several servers is meant"));
            }
        },
    };
    match parts(shared, &message, &params, question) {
        Some(parts) => {
            let page = ListPage { first: params.get("cursor").is_none(), modern: modern(&message) };
            Act::FanOut(FanOut::new(id, question, page), parts)
        }
        None => refuse(-32602, "the cursor is not one that was given"),
    }
}

/// What all servers are asked where an address is meant that none of them has listed.
fn unlisted(params: &Object<'_>, method: &str) -> Option<Question> {
    match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            params.text("uri").map(|_| Question::Unlisted("resources"))
        }
        "completion/complete" => {
            let reference = Object::read(params.get("ref")?.as_bytes()).ok()?;
            reference.text("uri").map(|_| Question::Unlisted("completions"))
        }
        _ => None,
    }
}

/// What each server is asked, for a request that goes to all that can answer it.
fn parts(shared: &Shared, message: &Message, params: &Object<'_>, question: Question) -> Option<Vec<(usize, Message)>> {
    let cursors: Option<BTreeMap<usize, String>> = match params.get("cursor") {
        Some(_) => Some(serde_json::from_str(&params.text("cursor")?).ok()?),
        None => None,
    };
    let mut parts = Vec::new();
    for (place, server) in shared.servers.iter().enumerate() {
        let can = question.capability().is_none_or(|name| {
            lock(&server.capabilities).as_ref().is_none_or(|capabilities| capabilities.get(name).is_some())
        });
        match &cursors {
            None if can => parts.push((place, message.clone())),
            None => {}
            Some(cursors) => {
                let Some(cursor) = cursors.get(&place) else { continue };
                let cursor = serde_json::Value::from(cursor.as_str()).to_string();
                parts.push((place, message.with_content(&replaced(message.content(), "cursor", &cursor)?)));
            }
        }
    }
    Some(parts)
}

/// The one server that a request is for, and the request as it knows it.
fn single(shared: &Shared, message: &Message, params: &Object<'_>, method: &str) -> Option<(usize, Message)> {
    let renamed = |path: &[&str], name: &str| -> Option<Message> {
        let name = serde_json::Value::from(name).to_string();
        match path {
            [key] => Some(message.with_content(&replaced(message.content(), key, &name)?)),
            [outer, key] => {
                let inner = replaced(params.get(outer)?.as_bytes(), key, &name)?;
                let inner = std::str::from_utf8(&inner).ok()?;
                Some(message.with_content(&replaced(message.content(), outer, inner)?))
            }
            _ => None,
        }
    };
    match method {
        "prompts/get" => {
            let name = params.text("name")?;
            let (server, prompt) = shared.split(&name)?;
            Some((server, renamed(&["name"], prompt)?))
        }
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            Some((shared.owner(&params.text("uri")?)?, message.clone()))
        }
        "completion/complete" => {
            let reference = Object::read(params.get("ref")?.as_bytes()).ok()?;
            match reference.text("name") {
                Some(name) => {
                    let (server, prompt) = shared.split(&name)?;
                    Some((server, renamed(&["ref", "name"], prompt)?))
                }
                None => Some((shared.owner(&reference.text("uri")?)?, message.clone())),
            }
        }
        _ if method.starts_with("tasks/") => {
            let task = params.text("taskId")?;
            let server = shared.table().tasks.keys().find(|(_, known)| *known == task).map(|(server, _)| *server);
            Some((server?, message.clone()))
        }
        _ => None,
    }
}

/// A call under the tool's own name.
pub(super) fn own_name(message: Message, tool: &str) -> Message {
    let name = serde_json::Value::from(tool).to_string();
    match replaced(message.content(), "name", &name) {
        Some(content) if message.method() == Some(METHOD) => message.with_content(&content),
        _ => message,
    }
}

/// The client's answer to a server's request: to whom, under the id that this server knows.
pub(super) fn answered(shared: &Shared, message: Message) -> Act {
    let asked = message.id().and_then(|id| shared.table().asked.remove(id));
    match asked {
        Some((server, id)) => Act::Tell(server, message.with_id(&id)),
        None => {
            tracing::warn!("an answer of the client to nothing that was asked was dropped");
            Act::Drop
        }
    }
}

/// Which servers a notification of the client is for.
pub(super) fn told(shared: &Shared, message: Message, method: &str) -> Act {
    if method == "notifications/progress" {
        let token =
            Object::read(message.content()).ok().and_then(|params| params.get("progressToken").map(str::to_owned));
        let server = token.and_then(|token| shared.table().tokens.get(&token).copied());
        return server.map_or(Act::Drop, |server| Act::Tell(server, message));
    }
    Act::TellAll(message)
}

/// A server's message that is no answer, as the client gets it: requests of several servers may have the same id.
pub(super) fn from_server(shared: &Shared, server: usize, message: Message) -> Message {
    let Some(name) = shared.servers.get(server).map(|server| server.name.as_str()) else { return message };
    let apart = |id: &Id| Id::Text(format!("{name}:{id}"));
    match (message.kind(), message.id()) {
        (Kind::Request, Some(id)) => {
            let new = apart(id);
            let mut table = shared.table();
            table.asked.insert(new.clone(), (server, id.clone()));
            if let Some(token) = progress_token(&message) {
                table.tokens.insert(token, server);
            }
            message.with_id(&new)
        }
        (Kind::Notification, _) if message.method() == Some("notifications/cancelled") => {
            let renamed = || {
                let params = Object::read(message.content()).ok()?;
                let id = Id::read(params.get("requestId")?.as_bytes())?;
                replaced(message.content(), "requestId", &apart(&id).json())
            };
            renamed().map_or_else(|| message.clone(), |content| message.with_content(&content))
        }
        _ => message,
    }
}

fn progress_token(message: &Message) -> Option<String> {
    let params = Object::read(message.content()).ok()?;
    Object::read(params.get("_meta")?.as_bytes()).ok()?.get("progressToken").map(str::to_owned)
}

impl Shared {
    /// The server and the own name of what is called `SERVER__NAME`.
    pub(super) fn split<'a>(&self, name: &'a str) -> Option<(usize, &'a str)> {
        let (server, own) = name.split_once(NAME_SEPARATOR)?;
        Some((self.servers.iter().position(|known| known.name == server)?, own))
    }

    /// The server that a resource belongs to: the one that listed its address, or a template that it begins like.
    fn owner(&self, address: &str) -> Option<usize> {
        let table = self.table();
        let listed = table.resources.get(address).copied();
        let begins = |template: &str| {
            let (start, _) = template.split_once('{').unwrap_or((template, ""));
            !start.is_empty() && address.starts_with(start)
        };
        listed.or_else(|| {
            table
                .templates
                .iter()
                .find(|(template, _)| *template == address || begins(template))
                .map(|(_, server)| *server)
        })
    }
}
