//! What a browser asks and reads before a page of another site may call (CORS): which page, method and headers.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, VARY,
};
use hyper::{Method, Request, StatusCode};

use super::reply::{self, Reply};
use crate::http::access::Access;

/// How long a browser may remember the answer, in seconds.
const MAX_AGE: &str = "600";

/// The answer to a browser that asks whether a listed page may send a request. It carries no token yet, and nothing else is
/// looked at.
pub(in crate::http) fn asked_before<B>(access: &Access, request: &Request<B>) -> Option<Reply> {
    let headers = request.headers();
    let asks = request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if !asks || access.page(headers).is_none() || access.check(request.uri(), headers).is_err() {
        return None;
    }
    let mut answer = reply::status(StatusCode::NO_CONTENT);
    let said = answer.headers_mut();
    said.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        said.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    said.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    Some(answer)
}

/// Lets the page read the answer, and the headers by which the protocol works.
pub(in crate::http) fn readable(answer: &mut Reply, page: HeaderValue) {
    let said = answer.headers_mut();
    said.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    let exposed = HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate");
    said.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    said.insert(VARY, HeaderValue::from_static("origin"));
}
