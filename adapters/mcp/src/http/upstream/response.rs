//! What a server answered.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

/// The size of an answer that is copied, in bytes: as much as is read at once.
const MAX_COPIED_BYTES: usize = 16 << 10;
/// The largest message that is taken from a server, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// How long a stream that has no answer to give stays away before it is asked for again.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Reads an answer that is one object.
pub(super) async fn whole(mut response: Response) -> Result<Bytes, String> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
    let too_large = || format!("the server's answer is larger than {MAX_MESSAGE_BYTES} bytes");
    if announced > MAX_MESSAGE_BYTES {
        return Err(too_large());
    }
    let broken = |error: reqwest::Error| format!("the server's answer broke off: {}", cause(&error));
    let Some(first) = response.chunk().await.map_err(broken)? else { return Ok(Bytes::new()) };
    if first.len() == announced {
        // A small answer that is kept would keep all of the buffer that it was read into.
        return Ok(if announced < MAX_COPIED_BYTES { Bytes::copy_from_slice(&first) } else { first });
    }
    let mut bytes = BytesMut::with_capacity(announced.min(16 << 20).max(first.len()));
    bytes.extend_from_slice(&first);
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if bytes.len().saturating_add(chunk.len()) > MAX_MESSAGE_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// What an answer is, without its parameters, in lower case.
pub(super) fn kind(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next()?.trim().to_ascii_lowercase())
}

/// The innermost cause of an error: the outer ones repeat the address.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
