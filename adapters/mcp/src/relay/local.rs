//! Without a server behind it: what the relay answers by itself.

use phasegate_core::values::canonical::Sorted;
use serde_json::{Value, json};

use super::act::Act;
use super::initialize::info;
use super::pending::ListPage;
use super::shared::Shared;
use super::tool_list::declares_handles;
use crate::encode;
use crate::message::Message;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::own;
use crate::message::tool_call::modern;

/// The revision without a handshake.
const MODERN: &str = "2026-07-28";
/// The revisions with a handshake, newest first.
const WITH_HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The error for a message of an unsupported revision.
const UNSUPPORTED: i64 = -32022;

/// The answer to a request that is no call.
pub(super) fn answer(shared: &Shared, message: &Message, id: Id, method: &str) -> Act {
    let modern = modern(message);
    if let Some(refusal) = version_refused(message, &id).filter(|_| modern) {
        return Act::Answer(id, refusal);
    }
    let result = match method {
        "initialize" => Some(initialized(message)),
        "ping" => Some(json!({})),
        "server/discover" => Some(json!({
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": info()},
        })),
        "tools/list" => Some(listed(shared, modern)),
        _ => None,
    };
    let json = match result {
        Some(result) => encode::answered(&id, &complete(result, modern)),
        None => encode::failed(Some(&id), -32601, &format!("there is no method `{method}`"), None),
    };
    Act::Answer(id, json)
}

/// A result as text; of the revision without a handshake it says that it is complete.
fn complete(mut result: Value, modern: bool) -> String {
    if let (true, Value::Object(fields)) = (modern, &mut result) {
        fields.insert("resultType".to_owned(), Value::from("complete"));
    }
    Sorted(&result).to_string()
}

fn initialized(message: &Message) -> Value {
    let asked = Object::read(message.content()).ok().and_then(|params| params.text("protocolVersion"));
    let spoken = WITH_HANDSHAKE.into_iter().find(|version| asked.as_deref() == Some(version));
    json!({
        "protocolVersion": spoken.unwrap_or(WITH_HANDSHAKE[0]),
        "capabilities": {"tools": {}},
        "serverInfo": info(),
    })
}

fn listed(shared: &Shared, modern: bool) -> Value {
    let mut tools = if shared.options.own_tools { own::tools().to_vec() } else { Vec::new() };
    if declares_handles(shared, ListPage { first: true, modern }) {
        tools.iter_mut().for_each(own::takes_handle);
    }
    if modern { json!({"tools": tools, "ttlMs": 0, "cacheScope": "public"}) } else { json!({"tools": tools}) }
}

/// The error for an unsupported revision, if the message has one.
fn version_refused(message: &Message, id: &Id) -> Option<String> {
    let params: Value = serde_json::from_slice(message.content()).ok()?;
    let asked = params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion")?.as_str()?;
    (asked != MODERN).then(|| {
        let error = json!({
            "code": UNSUPPORTED,
            "message": format!("the revision `{asked}` is not spoken"),
            "data": {"supported": [MODERN], "requested": asked},
        });
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    })
}
