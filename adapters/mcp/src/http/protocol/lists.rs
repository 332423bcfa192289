//! A list of messages in one request, which the protocol had in revision 2025-03-26 only.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderMap;

use super::refusal::Refusal;
use super::reply::{self, Reply};
use super::revision::version_header;
use super::versions::UNSAID;
use crate::http::handshake::session;
use crate::http::principal::Principal;
use crate::http::settings::Server;
use crate::message::Kind;
use crate::message::batches::{REVISION, split};

/// Whether the client speaks the revision that has lists. Its clients send no header that names it.
pub(in crate::http) fn are_spoken(headers: &HeaderMap) -> bool {
    matches!(version_header(headers), Ok(version) if version.unwrap_or(UNSAID) == REVISION)
}

/// A list. Each message goes its own way; the answers are one list.
pub(in crate::http) async fn posted(
    server: &Arc<Server>,
    principal: &Principal,
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<Reply, Refusal> {
    let parts = split(bytes).map_err(|malformed| Refusal::from(&malformed))?;
    let endpoint = session(server, principal, headers).await?;
    let mut asked = Vec::new();
    for part in parts {
        match part {
            Ok(message) if message.kind() == Kind::Request => {
                let id = message.id().cloned();
                asked.push(endpoint.ask(message).await.map_err(|refusal| refusal.body(id.as_ref())));
            }
            Ok(message) => endpoint.tell(message).await?,
            Err(malformed) => asked.push(Err(Refusal::from(&malformed).body(malformed.id.as_ref()))),
        }
    }
    if asked.is_empty() {
        return Ok(reply::status(StatusCode::ACCEPTED));
    }
    let mut answers: Vec<Bytes> = Vec::new();
    for request in asked {
        match request {
            Ok(request) => answers.extend(request.answer().await.map(|answer| answer.bytes().clone())),
            Err(error) => answers.push(error.into()),
        }
    }
    Ok(reply::list(&answers))
}
