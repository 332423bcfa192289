//! Which kinds of body a request has and takes.

use hyper::StatusCode;
use hyper::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

use super::refusal::Refusal;

/// Whether the body is what is read here, and the client takes what may be answered.
pub(in crate::http) fn checked(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") || headers.contains_key(CONTENT_ENCODING) {
        let text = "the body must be `application/json`, and not compressed";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, text));
    }
    if accepts(headers, "application/json") && accepts(headers, "text/event-stream") {
        return Ok(());
    }
    let text = "the client must accept both `application/json` and `text/event-stream`";
    Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, -32600, text))
}

/// Whether the client takes answers of this kind.
pub(in crate::http) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let family = kind.split('/').next().unwrap_or_default();
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let refused =
            parts.any(|part| matches!(part.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let named = range.eq_ignore_ascii_case(kind)
            || range == "*/*"
            || range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(family));
        named && !refused
    })
}
