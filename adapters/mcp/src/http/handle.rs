//! Handles: how a client without a session says which one its request belongs to.
//!
//! `activate_skill` answers a handle. The client passes it back in `_meta`, or the agent does as an argument. It is read
//! and taken out before anything else sees the request.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::http::protocol::refusal::Refusal;
use crate::message::object::Object;
use crate::message::own::{HANDLE_ARGUMENT as ARGUMENT, HANDLE_META as META};
use crate::message::{Kind, Message};

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
    let (meta, mut handles) = taken(params.get("_meta"), META)?;
    let (arguments, found) = taken(params.get("arguments").filter(|_| tool.is_some()), ARGUMENT)?;
    handles.extend(found);
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

/// An object without this key, and the texts that stood there; `None` where it does not hold it.
fn taken(json: Option<&str>, taken: &str) -> Result<(Option<String>, Vec<String>), Refusal> {
    let Some(read) = json.and_then(|json| Object::read(json.as_bytes()).ok()) else { return Ok((None, Vec::new())) };
    let mut handles = Vec::new();
    for (_, json) in read.iter().filter(|(key, _)| *key == taken) {
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
    Ok((Some(object(read.iter().filter(|(key, _)| *key != taken))), handles))
}

/// The answer of `activate_skill` with the handle in it: for programs, and for the agent in words. `None` where nothing was
/// activated: the answer is an error, or says that it is one.
pub(super) fn add(answer: &Message, handle: &str) -> Option<Message> {
    if answer.kind() != Kind::Result {
        return None;
    }
    let mut result: Value = serde_json::from_slice(answer.content()).ok()?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return None;
    }
    let words = format!(
        "This skill holds for the session `{handle}`. Pass it with every call that belongs to it: \
         as the argument `{ARGUMENT}`, unless the client passes it in `_meta` as `{META}`."
    );
    let fields = result.as_object_mut()?;
    if let Some(content) = fields.entry("content").or_insert_with(|| json!([])).as_array_mut() {
        content.push(json!({"type": "text", "text": words}));
    }
    for (field, key) in [("_meta", META), ("structuredContent", "session")] {
        if let Some(object) = fields.entry(field).or_insert_with(|| json!({})).as_object_mut() {
            object.insert(key.into(), handle.into());
        }
    }
    Some(answer.with_content(result.to_string().as_bytes()))
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
            (
                r#"{"name":"a","_meta":{"dev.phasegate/session":"h","k":1e400}}"#,
                r#"{"name":"a","_meta":{"k":1e400}}"#,
                Some("h"),
            ),
            (
                r#"{"arguments":{"phasegate_session":"h","y":[1]},"name":"a"}"#,
                r#"{"arguments":{"y":[1]},"name":"a"}"#,
                Some("h"),
            ),
            (r#"{"name":"a","arguments":{"session":"mine"}}"#, r#"{"name":"a","arguments":{"session":"mine"}}"#, None),
            (r#"{"name":"a","arguments":{"phasegate_session":null}}"#, r#"{"name":"a","arguments":{}}"#, None),
        ] {
            assert_eq!(given(params).unwrap(), (left.to_owned(), handle.map(ToOwned::to_owned)), "{params}");
        }
    }

    #[test]
    fn an_answer_carries_the_handle_if_the_skill_is_active() {
        let answer = |result: &str| Message::read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)).unwrap();
        let given = add(&answer(r#"{"content":[{"type":"text","text":"on"}],"structuredContent":{"skill":"s"}}"#), "h")
            .unwrap();
        let result: Value = serde_json::from_slice(given.content()).unwrap();
        assert_eq!(result["_meta"], json!({"dev.phasegate/session": "h"}));
        assert_eq!(result["structuredContent"], json!({"skill": "s", "session": "h"}));
        assert!(result["content"][1]["text"].as_str().unwrap().contains("`h`"));
        assert!(add(&answer(r#"{"content":[],"isError":true}"#), "h").is_none());
        assert!(
            add(&Message::read(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#).unwrap(), "h").is_none()
        );
    }

    #[test]
    fn handles_that_differ_or_are_none_are_refused() {
        for params in [
            r#"{"name":"a","_meta":{"dev.phasegate/session":"h"},"arguments":{"phasegate_session":"i"}}"#,
            r#"{"name":"a","_meta":{"dev.phasegate/session":7}}"#,
            r#"{"name":"a","_meta":{"dev.phasegate/session":"h","dev.phasegate/session":"i"}}"#,
        ] {
            assert_eq!(given(params).unwrap_err().number, -32602, "{params}");
        }
    }
}
