//! One request that several servers answer, and the one answer that the client gets.

use std::collections::BTreeMap;

use phasegate_core::values::canonical::Sorted;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::pending::{FanOut, ListPage, Pending, Question};
use super::shared::Shared;
use super::{initialize, tool_list};
use crate::encode;
use crate::message::id::Id;
use crate::message::object::{Object, replaced};
use crate::message::own;
use crate::message::{Kind, Message};
use crate::sync::lock;

/// Asks each server its part.
pub(super) async fn ask(shared: &Shared, mut fan_out: FanOut, parts: Vec<(usize, Message)>) {
    fan_out.waiting = parts.len();
    let (number, sent) = {
        let mut table = shared.table();
        table.fan_outs_begun += 1;
        let number = table.fan_outs_begun;
        let id = Id::Text(format!("phasegate-{number}"));
        let sent: Vec<_> = parts.into_iter().map(|(server, message)| (server, message.with_id(&id))).collect();
        for (server, _) in &sent {
            table.pending.insert((*server, id.clone()), Pending::Part(number));
        }
        table.fan_outs.insert(number, fan_out);
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
            part(shared, number, server, None).await;
        }
    }
}

/// Takes what a server answered; nothing, if it is gone.
pub(super) async fn part(shared: &Shared, number: u64, server: usize, message: Option<Message>) {
    let complete = {
        let mut table = shared.table();
        let Some(fan_out) = table.fan_outs.get_mut(&number) else { return };
        fan_out.waiting = fan_out.waiting.saturating_sub(1);
        if let Some(message) = message {
            fan_out.answers.insert(server, message);
        }
        fan_out.waiting == 0
    };
    if complete {
        finish(shared, number).await;
    }
}

/// Gives up a request that several servers answer, if this is one: each is told under the id that it knows.
pub(super) async fn cancelled(shared: &Shared, id: &Id, message: &Message) -> bool {
    let parts: Vec<(usize, Id)> = {
        let mut table = shared.table();
        let Some(number) = table.fan_outs.iter().find(|(_, fan_out)| fan_out.id == *id).map(|(number, _)| *number)
        else {
            return false;
        };
        table.fan_outs.remove(&number);
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
    let Some(fan_out) = shared.table().fan_outs.remove(&number) else { return };
    let results: Vec<(usize, &Message)> = fan_out
        .answers
        .iter()
        .filter(|(_, message)| message.kind() == Kind::Result)
        .map(|(at, it)| (*at, it))
        .collect();
    let one_is_enough = matches!(fan_out.question, Question::Unlisted(_));
    let failed = fan_out.answers.iter().filter(|(_, message)| message.kind() == Kind::Error && !one_is_enough);
    for (server, message) in failed {
        let (server, error) = (shared.name(*server), String::from_utf8_lossy(message.content()));
        tracing::warn!("the server `{server}`, one of several, answered with an error: {error}");
    }
    if results.is_empty()
        && let Some(error) = fan_out.answers.values().next()
    {
        return shared.answer(&fan_out.id, error.with_id(&fan_out.id).to_text()).await;
    }
    if results.is_empty() && matches!(fan_out.question, Question::Initialize | Question::Discover) {
        return shared.fail(&fan_out.id, -32603, "none of the servers is there", None).await;
    }
    let result = match fan_out.question {
        Question::Unlisted(_) => {
            let found = results.iter().find(|(_, message)| has_something(message)).or(results.first());
            let Some((_, message)) = found else {
                return shared.fail(&fan_out.id, -32602, "no server has what is asked for", None).await;
            };
            return shared.answer(&fan_out.id, message.with_id(&fan_out.id).to_text()).await;
        }
        Question::Nothing => "{}".to_owned(),
        Question::Initialize | Question::Discover => greeted(shared, fan_out.question, &results),
        Question::List("tools") => tools(shared, &results, fan_out.page).await,
        Question::List(key) => listed(shared, key, &results, fan_out.page.modern),
    };
    shared.answer(&fan_out.id, encode::answered(&fan_out.id, &result)).await;
}

/// Whether the answer holds what was asked for: servers may answer with nothing in place of an error.
fn has_something(message: &Message) -> bool {
    let result: Value = serde_json::from_slice(message.content()).unwrap_or_default();
    let lists = [result.pointer("/contents"), result.pointer("/completion/values")];
    !lists.into_iter().flatten().any(|list| list.as_array().is_some_and(Vec::is_empty))
}

/// What all can do together.
fn greeted(shared: &Shared, question: Question, results: &[(usize, &Message)]) -> String {
    let (mut capabilities, mut instructions) = (Map::new(), Vec::new());
    let (mut version, mut versions): (Option<String>, Option<Vec<String>>) = (None, None);
    for (place, message) in results {
        let Ok(result) = serde_json::from_slice::<Value>(message.content()) else { continue };
        let Some(server) = shared.servers.get(*place) else { continue };
        let can = result.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
        initialize::merge(&mut capabilities, &can);
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
    initialize::narrow(&mut capabilities, question == Question::Discover);
    result.insert("capabilities".to_owned(), Value::Object(capabilities));
    if !instructions.is_empty() {
        result.insert("instructions".to_owned(), Value::from(instructions.join("\n\n")));
    }
    if question == Question::Discover {
        result.insert("supportedVersions".to_owned(), Value::from(versions.unwrap_or_default()));
        result
            .insert("_meta".to_owned(), serde_json::json!({"io.modelcontextprotocol/serverInfo": initialize::info()}));
        for (key, value) in
            [("resultType", Value::from("complete")), ("ttlMs", 0.into()), ("cacheScope", "private".into())]
        {
            result.insert(key.to_owned(), value);
        }
    } else {
        result.insert("protocolVersion".to_owned(), Value::from(version));
        result.insert("serverInfo".to_owned(), initialize::info());
    }
    let result = Value::Object(result).to_string();
    initialize::content(shared, result.as_bytes()).and_then(|content| String::from_utf8(content).ok()).unwrap_or(result)
}

async fn tools(shared: &Shared, results: &[(usize, &Message)], page: ListPage) -> String {
    let mut texts = Vec::new();
    for (server, message) in results {
        match tool_list::entries(shared, *server, message, page.first).await {
            Ok(tool_list::Entries::Edited(entries)) => texts.extend(entries),
            Ok(tool_list::Entries::Plain) => texts.extend(plain(shared, *server, message)),
            // Left out: the calls of its tools are denied with the reason.
            Err(problem) => {
                tracing::warn!("the tools of the server `{}` were left out: {}", shared.name(*server), problem.message);
            }
        }
    }
    if page.first && shared.own_tools() {
        texts.extend(own::tools().iter().map(|tool| Sorted(tool).to_string()));
    }
    if tool_list::declares_handles(shared, page) {
        texts = texts.iter().map(|text| tool_list::with_handle(text)).collect();
    }
    result("tools", &texts, results, page.modern)
}

/// The tools of a server in a project that nothing guards.
fn plain(shared: &Shared, server: usize, message: &Message) -> Vec<String> {
    let raw = raw(message, "tools");
    raw.iter().map(|raw| tool_list::renamed(shared, server, raw.get())).collect()
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
            texts.push(if key == "prompts" {
                tool_list::renamed(shared, *server, raw.get())
            } else {
                raw.get().to_owned()
            });
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
