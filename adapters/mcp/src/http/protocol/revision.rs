//! Which revision of the protocol a request speaks, and whether its headers say what its body says.
//!
//! Revisions with a handshake have sessions. Since 2026-07-28 every request says for itself which revision it speaks, in
//! `_meta`; headers repeat the revision, the method and the name, so that what routes by headers cannot be led astray.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName};
use serde_json::Value;

use super::refusal::Refusal;
use super::versions::{METHOD, NAME, STATELESS, SUPPORTED, VERSION};
use crate::message::object::Object;
use crate::message::{Kind, Message};

/// The key of `_meta` that names the revision.
pub(in crate::http) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of `_meta` that holds what the client can do.
pub(in crate::http) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// How a message is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Revision {
    /// In a session that a handshake began.
    Session,
    /// By itself.
    Stateless,
}

/// Which revision a message speaks, by its headers and its body.
pub(in crate::http) fn of(headers: &HeaderMap, message: &Message) -> Result<Revision, Refusal> {
    let header = version_header(headers)?;
    let params = Object::read(message.content()).unwrap_or_default();
    let meta = params.get("_meta").and_then(|meta| Object::read(meta.as_bytes()).ok()).unwrap_or_default();
    let named = match meta.get(META_VERSION) {
        Some(json) => Some(serde_json::from_str::<String>(json).map_err(|_| invalid(META_VERSION))?),
        None => None,
    };
    match (named.as_deref(), header) {
        (Some(version), Some(header)) if version != header => Err(Refusal::header_mismatch(format!(
            "the header says protocol version `{header}` and the body `{version}`"
        ))),
        (Some(version), None) if version == STATELESS => {
            Err(Refusal::header_mismatch("the header `MCP-Protocol-Version` is missing"))
        }
        (Some(version), _) if version == STATELESS => {
            stateless(headers, message, &params, &meta)?;
            Ok(Revision::Stateless)
        }
        // `server/discover` lists no other revision either: the others have a handshake.
        (Some(version), _) if !SUPPORTED.contains(&version) => Err(Refusal::unsupported_version(version, &[STATELESS])),
        (None, Some(version)) if !SUPPORTED.contains(&version) => {
            Err(Refusal::unsupported_version(version, &SUPPORTED))
        }
        (None, Some(STATELESS)) if message.method() != Some("initialize") => match message.kind() {
            Kind::Notification => Ok(Revision::Stateless),
            Kind::Request => Err(invalid(META_VERSION)),
            Kind::Result | Kind::Error => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                -32600,
                "clients send no answers in this revision; they repeat the request with `inputResponses`",
            )),
        },
        _ => Ok(Revision::Session),
    }
}

/// Whether the version that a request without a body names is supported.
pub(in crate::http) fn version_header(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    one(headers, &VERSION)
}

/// Whether a message speaks the revision without sessions, whatever carried it.
pub(in crate::http) fn is_stateless(message: &Message) -> bool {
    let params = Object::read(message.content()).unwrap_or_default();
    let meta = params.get("_meta").and_then(|meta| Object::read(meta.as_bytes()).ok()).unwrap_or_default();
    meta.text(META_VERSION).as_deref() == Some(STATELESS)
}

/// The method and the name of a request as headers repeat them.
pub(in crate::http) fn routing(message: &Message) -> (Option<&str>, Option<String>) {
    let key = match message.method() {
        Some("tools/call" | "prompts/get") => "name",
        Some("resources/read") => "uri",
        _ => return (message.method(), None),
    };
    (message.method(), Object::read(message.content()).unwrap_or_default().text(key))
}

/// A text as a header can carry it: as it is, or in base64 between host_ids.
pub(in crate::http) fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\t')
        && !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t'])
        && (!text.starts_with("=?base64?") || !text.ends_with("?="))
        && !text.is_empty();
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

/// The text that a header carries; `None` if the host_ids hold no base64 of a text.
pub(in crate::http) fn decoded(value: &str) -> Option<String> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match inner {
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

fn stateless(headers: &HeaderMap, message: &Message, params: &Object<'_>, meta: &Object<'_>) -> Result<(), Refusal> {
    if message.kind() != Kind::Request {
        return Ok(());
    }
    let known = [META_VERSION, META_CAPABILITIES];
    if params.doubtful(&["_meta", "name", "uri", "arguments"]).is_some() || meta.doubtful(&known).is_some() {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, -32600, "a key of the parameters is given twice"));
    }
    let capabilities = meta.get(META_CAPABILITIES).and_then(|json| serde_json::from_str::<Value>(json).ok());
    if !capabilities.is_some_and(|value| value.is_object()) {
        return Err(invalid(META_CAPABILITIES));
    }
    let (method, name) = routing(message);
    compare(headers, &METHOD, "Mcp-Method", method.unwrap_or_default())?;
    if let Some(name) = name {
        compare(headers, &NAME, "Mcp-Name", &name)?;
    }
    Ok(())
}

fn compare(headers: &HeaderMap, header: &HeaderName, shown: &str, body: &str) -> Result<(), Refusal> {
    let Some(value) = one(headers, header)? else {
        return Err(Refusal::header_mismatch(format!("the header `{shown}` is missing; the body says `{body}`")));
    };
    // Only a name may be wrapped: methods are plain.
    let text = if header == NAME { decoded(value) } else { Some(value.to_owned()) };
    if text.as_deref() == Some(body) {
        return Ok(());
    }
    Err(Refusal::header_mismatch(format!("the header `{shown}` says `{value}`, the body `{body}`")))
}

/// What the header with this name says, if it is there.
///
/// # Errors
///
/// It is given twice, or is no plain text.
pub(in crate::http) fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(hyper::header::HeaderValue::to_str);
    match (first, values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value.trim())),
        (Some(Err(_)), _) => Err(Refusal::header_mismatch(format!("the header `{name}` is no plain text"))),
        (Some(_), Some(_)) => Err(Refusal::header_mismatch(format!("the header `{name}` is given twice"))),
    }
}

fn invalid(key: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, -32602, format!("`_meta` must hold `{key}` on every request"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_travel_in_headers() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("a b", "a b"),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(text), value);
            assert_eq!(decoded(value).as_deref(), Some(text));
        }
        assert_eq!(decoded(&encoded("Grüße 世界")).as_deref(), Some("Grüße 世界"));
        assert_eq!(decoded(&encoded("")).as_deref(), Some(""));
        assert_eq!(decoded("=?base64?***?="), None);
    }
}
