//! Handles: how a client without a session says which one its request belongs to.
//!
//! `activate_skill` answers a handle. The client passes it back in `_meta`, or the agent does as an argument. It is read
//! and taken out before anything else sees the request.

use hyper::StatusCode;
use serde_json::Value;

use super::refusal::Refusal;
use crate::message::Message;
use crate::object::Object;

/// The key of `_meta` under which a handle is answered and passed back.
pub const META: &str = "phasegate/session";
/// The argument under which an agent may pass a handle with any tool.
pub const ARGUMENT: &str = "phasegate_session";
/// The same for our own tools.
const OWN_ARGUMENT: &str = "session";
/// Our own tools.
const OWN: [&str; 3] = [ACTIVATE, "deactivate_skill", "get_skill_phase"];
/// The tool that answers a handle.
pub(super) const ACTIVATE: &str = "activate_skill";

/// A request without its handle.
#[derive(Debug)]
pub(super) struct Taken {
    /// The request as everything behind sees it.
    pub(super) message: Message,
    /// The handle that it carried.
    pub(super) handle: Option<String>,
    /// The name of the tool that it calls.
    pub(super) tool: Option<String>,
}

/// Takes the handle out of a request.
pub(super) fn take(message: Message) -> Result<Taken, Refusal> {
    let params = Object::read(message.content()).unwrap_or_default();
    let tool = if message.method() == Some("tools/call") { params.text("name") } else { None };
    let own = tool.as_deref().is_some_and(|tool| OWN.contains(&tool));
    let (meta, mut handles) = taken(params.get("_meta"), &[META])?;
    let arguments = match &tool {
        Some(_) => {
            let keys: &[&str] = if own { &[ARGUMENT, OWN_ARGUMENT] } else { &[ARGUMENT] };
            let (arguments, found) = taken(params.get("arguments"), keys)?;
            handles.extend(found);
            arguments
        }
        None => None,
    };
    handles.sort();
    handles.dedup();
    if handles.len() > 1 {
        return Err(invalid("the request carries two handles that differ"));
    }
    let message = if meta.is_some() || arguments.is_some() {
        let fields = params.iter().map(|(key, json)| match key {
            "_meta" => (key, meta.as_deref().unwrap_or(json)),
            "arguments" => (key, arguments.as_deref().unwrap_or(json)),
            _ => (key, json),
        });
        let content = object(fields);
        message.with_content(content.as_bytes())
    } else {
        message.clone()
    };
    Ok(Taken { message, handle: handles.pop(), tool })
}

/// An object without these keys, and the texts that stood there; `None` where it holds none of them.
fn taken(json: Option<&str>, keys: &[&str]) -> Result<(Option<String>, Vec<String>), Refusal> {
    let Some(read) = json.and_then(|json| Object::read(json.as_bytes()).ok()) else { return Ok((None, Vec::new())) };
    let mut handles = Vec::new();
    for (_, json) in read.iter().filter(|(key, _)| keys.contains(key)) {
        match serde_json::from_str::<Value>(json) {
            Ok(Value::String(handle)) => handles.push(handle),
            // A client that fills in every argument sends what is not there as `null`, or empty.
            Ok(Value::Null) => handles.push(String::new()),
            _ => return Err(invalid("a handle is a text")),
        }
    }
    if handles.is_empty() {
        return Ok((None, handles));
    }
    handles.retain(|handle| !handle.is_empty());
    Ok((Some(object(read.iter().filter(|(key, _)| !keys.contains(key)))), handles))
}

/// The fields as an object's JSON text.
pub(super) fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let fields: Vec<String> = fields.map(|(key, json)| format!("{}:{json}", Value::from(key))).collect();
    format!("{{{}}}", fields.join(","))
}

fn invalid(text: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, -32602, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(params: &str) -> Result<(String, Option<String>), Refusal> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let taken = take(Message::read(text).unwrap())?;
        Ok((String::from_utf8_lossy(taken.message.content()).into_owned(), taken.handle))
    }

    #[test]
    fn a_handle_is_taken_out_wherever_it_stands() {
        for (params, left, handle) in [
            (r#"{"name":"a","arguments":{"x": 1.50}}"#, r#"{"name":"a","arguments":{"x": 1.50}}"#, None),
            (r#"{"name":"a","_meta":{"phasegate/session":"h","k":1e400}}"#, r#"{"name":"a","_meta":{"k":1e400}}"#, Some("h")),
            (r#"{"arguments":{"phasegate_session":"h","y":[1]},"name":"a"}"#, r#"{"arguments":{"y":[1]},"name":"a"}"#, Some("h")),
            (r#"{"name":"a","arguments":{"session":"mine"}}"#, r#"{"name":"a","arguments":{"session":"mine"}}"#, None),
            (r#"{"name":"get_skill_phase","arguments":{"session":"h"}}"#, r#"{"name":"get_skill_phase","arguments":{}}"#, Some("h")),
            (r#"{"name":"get_skill_phase","arguments":{"session":null}}"#, r#"{"name":"get_skill_phase","arguments":{}}"#, None),
        ] {
            assert_eq!(given(params).unwrap(), (left.to_owned(), handle.map(ToOwned::to_owned)), "{params}");
        }
    }

    #[test]
    fn handles_that_differ_or_are_none_are_refused() {
        for params in [
            r#"{"name":"a","_meta":{"phasegate/session":"h"},"arguments":{"phasegate_session":"i"}}"#,
            r#"{"name":"a","_meta":{"phasegate/session":7}}"#,
            r#"{"name":"a","_meta":{"phasegate/session":"h","phasegate/session":"i"}}"#,
        ] {
            assert_eq!(given(params).unwrap_err().number, -32602, "{params}");
        }
    }
}
