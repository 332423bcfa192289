//! One request that several servers answer, and the one answer that the client gets.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::shared::{Pending, Shared, lock};
use super::{alone, hello, list};
use crate::encode;
use crate::id::Id;
use crate::message::{Kind, Message};
use crate::object::{Object, replaced};
use crate::own;

/// What is asked of all servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// What each can do, with a handshake.
    Initialize,
    /// What each can do, without one.
    Discover,
    /// The list under this key.
    List(&'static str),
    /// That each takes note.
    Nothing,
}

impl What {
    /// The capability without which a server need not be asked.
    pub(super) fn capability(self) -> Option<&'static str> {
        match self {
            Self::Initialize | Self::Discover => None,
            Self::List("resourceTemplates") => Some("resources"),
            Self::List(key) => Some(key),
            Self::Nothing => Some("logging"),
        }
    }
}

/// A request that waits for the answers of several servers.
#[derive(Debug)]
pub(super) struct Gather {
    pub(super) id: Id,
    what: What,
    /// Whether this is a list's first page; whether the client's revision keeps lists for a time.
    page: (bool, bool),
    /// What is still to come.
    pub(super) waiting: usize,
    answers: BTreeMap<usize, Message>,
}

impl Gather {
    pub(super) fn new(id: Id, what: What, page: (bool, bool)) -> Self {
        Self { id, what, page, waiting: 0, answers: BTreeMap::new() }
    }
}

/// Asks each server its part.
pub(super) async fn ask(shared: &Shared, mut gather: Gather, parts: Vec<(usize, Message)>) {
    gather.waiting = parts.len();
    let (number, sent) = {
        let mut table = shared.table();
        table.gathers_begun += 1;
        let number = table.gathers_begun;
        let id = Id::Text(format!("phasegate-{number}"));
        let sent: Vec<_> = parts.into_iter().map(|(server, message)| (server, message.with_id(&id))).collect();
        for (server, _) in &sent {
            table.pending.insert((*server, id.clone()), Pending::Part(number));
        }
        table.gathers.insert(number, gather);
        (number, sent)
    };
    if sent.is_empty() {
        finish(shared, number).await;
    }
    for (server, message) in sent {
        let id = message.id().cloned();
        if !shared.send(server, message).await
            && let Some(id) = id
            && shared.table().pending.remove(&(server, id)).is_some()
        {
            part(shared, number, (server, None)).await;
        }
    }
}

/// Takes what a server answered; nothing, if it is gone.
pub(super) async fn part(shared: &Shared, number: u64, (server, message): (usize, Option<Message>)) {
    let complete = {
        let mut table = shared.table();
        let Some(gather) = table.gathers.get_mut(&number) else { return };
        gather.waiting = gather.waiting.saturating_sub(1);
        if let Some(message) = message {
            gather.answers.insert(server, message);
        }
        gather.waiting == 0
    };
    if complete {
        finish(shared, number).await;
    }
}

/// Gives up a request that several servers answer, if this is one: each is told under the id that it knows.
pub(super) async fn cancelled(shared: &Shared, id: &Id, message: &Message) -> bool {
    let parts: Vec<(usize, Id)> = {
        let mut table = shared.table();
        let Some(number) = table.gathers.iter().find(|(_, gather)| gather.id == *id).map(|(number, _)| *number) else {
            return false;
        };
        table.gathers.remove(&number);
        table.open.remove(id);
        let of_it = |pending: &mut Pending| matches!(pending, Pending::Part(part) if *part == number);
        table.pending.extract_if(|_, pending| of_it(pending)).map(|(key, _)| key).collect()
    };
    for (server, part) in parts {
        if let Some(content) = replaced(message.content(), "requestId", &part.json()) {
            shared.send(server, message.with_content(&content)).await;
        }
    }
    true
}

async fn finish(shared: &Shared, number: u64) {
    let Some(gather) = shared.table().gathers.remove(&number) else { return };
    let results: Vec<(usize, &Message)> =
        gather.answers.iter().filter(|(_, message)| message.kind() == Kind::Result).map(|(at, it)| (*at, it)).collect();
    for (server, message) in gather.answers.iter().filter(|(_, message)| message.kind() == Kind::Error) {
        let error = String::from_utf8_lossy(message.content());
        tracing::warn!(server, "one of several servers answered with an error: {error}");
    }
    if results.is_empty()
        && let Some(error) = gather.answers.values().next()
    {
        return shared.answer(&gather.id, error.with_id(&gather.id).to_text()).await;
    }
    if results.is_empty() && matches!(gather.what, What::Initialize | What::Discover) {
        return shared.fail(&gather.id, -32603, "none of the servers is there", None).await;
    }
    let result = match gather.what {
        What::Nothing => "{}".to_owned(),
        What::Initialize | What::Discover => greeted(shared, gather.what, &results),
        What::List("tools") => tools(shared, &results, gather.page).await,
        What::List(key) => listed(shared, key, &results, gather.page.1),
    };
    shared.answer(&gather.id, encode::answered(&gather.id, &result)).await;
}

/// What all can do together.
fn greeted(shared: &Shared, what: What, results: &[(usize, &Message)]) -> String {
    let (mut capabilities, mut instructions) = (Map::new(), Vec::new());
    let (mut version, mut versions): (Option<String>, Option<Vec<String>>) = (None, None);
    for (place, message) in results {
        let Ok(result) = serde_json::from_slice::<Value>(message.content()) else { continue };
        let Some(server) = shared.servers.get(*place) else { continue };
        let can = result.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
        hello::merge(&mut capabilities, &can);
        *lock(&server.capabilities) = Some(can);
        if let Some(text) = result.get("instructions").and_then(Value::as_str) {
            instructions.push(format!("{}: {text}", server.name));
        }
        let spoken = result.get("protocolVersion").and_then(Value::as_str).map(ToOwned::to_owned);
        // The oldest that one of them speaks: its messages are understood by the others too.
        version = [version, spoken].into_iter().flatten().min();
        let supported: Option<Vec<String>> =
            result.get("supportedVersions").and_then(|list| serde_json::from_value(list.clone()).ok());
        versions = match (versions, supported) {
            (Some(all), Some(these)) => Some(all.into_iter().filter(|one| these.contains(one)).collect()),
            (all, these) => all.or(these),
        };
    }
    let mut result = Map::new();
    hello::narrow(&mut capabilities, what == What::Discover);
    result.insert("capabilities".to_owned(), Value::Object(capabilities));
    if !instructions.is_empty() {
        result.insert("instructions".to_owned(), Value::from(instructions.join("\n\n")));
    }
    if what == What::Discover {
        result.insert("supportedVersions".to_owned(), Value::from(versions.unwrap_or_default()));
        result.insert("_meta".to_owned(), serde_json::json!({"io.modelcontextprotocol/serverInfo": alone::info()}));
        for (key, value) in
            [("resultType", Value::from("complete")), ("ttlMs", 0.into()), ("cacheScope", "private".into())]
        {
            result.insert(key.to_owned(), value);
        }
    } else {
        result.insert("protocolVersion".to_owned(), Value::from(version));
        result.insert("serverInfo".to_owned(), alone::info());
    }
    let result = Value::Object(result).to_string();
    hello::content(shared, result.as_bytes()).and_then(|content| String::from_utf8(content).ok()).unwrap_or(result)
}

async fn tools(shared: &Shared, results: &[(usize, &Message)], (first, modern): (bool, bool)) -> String {
    let mut texts = Vec::new();
    for (server, message) in results {
        match list::entries(shared, *server, message, first).await {
            Ok(list::Entries::Edited(entries)) => texts.extend(entries),
            Ok(list::Entries::Plain) => texts.extend(plain(shared, *server, message)),
            // Left out: the calls of its tools are denied with the reason.
            Err(problem) => tracing::warn!(server, "a list of tools was left out: {}", problem.message),
        }
    }
    if first && shared.own_tools() {
        texts.extend(own::tools().iter().map(Value::to_string));
    }
    result("tools", &texts, results, modern)
}

/// The tools of a server in a project that nothing guards.
fn plain(shared: &Shared, server: usize, message: &Message) -> Vec<String> {
    let raw = raw(message, "tools");
    raw.iter().map(|raw| list::renamed(shared, server, raw.get())).collect()
}

fn raw<'a>(message: &'a Message, key: &str) -> Vec<&'a RawValue> {
    let list = || serde_json::from_str(Object::read(message.content()).ok()?.get(key)?).ok();
    list().unwrap_or_default()
}

fn listed(shared: &Shared, key: &str, results: &[(usize, &Message)], modern: bool) -> String {
    let mut texts = Vec::new();
    for (server, message) in results {
        for raw in raw(message, key) {
            let entry = Object::read(raw.get().as_bytes()).unwrap_or_default();
            let mut table = shared.table();
            match key {
                "resources" => {
                    let Some(address) = entry.text("uri") else { continue };
                    let owner = *table.resources.entry(address.clone()).or_insert(*server);
                    if owner != *server {
                        tracing::warn!("the resource `{address}` is listed by two servers; the first has it");
                        continue;
                    }
                }
                "resourceTemplates" => {
                    let Some(template) = entry.text("uriTemplate") else { continue };
                    if !table.templates.contains(&(template.clone(), *server)) {
                        table.templates.push((template, *server));
                    }
                }
                _ => {}
            }
            drop(table);
            texts.push(if key == "prompts" { list::renamed(shared, *server, raw.get()) } else { raw.get().to_owned() });
        }
    }
    result(key, &texts, results, modern)
}

/// A list with the cursors of the servers that have more.
fn result(key: &str, texts: &[String], results: &[(usize, &Message)], modern: bool) -> String {
    let cursors: BTreeMap<usize, String> = results
        .iter()
        .filter_map(|(server, message)| Some((*server, Object::read(message.content()).ok()?.text("nextCursor")?)))
        .collect();
    let mut result = format!(r#"{{"{key}":[{}]}}"#, texts.join(",")).into_bytes();
    let mut add = |key: &str, value: &str| {
        if let Some(with) = replaced(&result, key, value) {
            result = with;
        }
    };
    if let (false, Ok(cursor)) = (cursors.is_empty(), serde_json::to_string(&cursors)) {
        add("nextCursor", &Value::from(cursor).to_string());
    }
    if modern {
        add("resultType", "\"complete\"");
        add("ttlMs", "0");
        add("cacheScope", "\"private\"");
    }
    String::from_utf8(result).unwrap_or_default()
}
