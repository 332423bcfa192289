//! The revisions of the protocol, and the headers that name what a request is.

use hyper::header::HeaderName;

/// The supported revisions, newest first.
pub(super) const SUPPORTED: [&str; 5] = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revision without handshake and sessions.
pub(super) const STATELESS: &str = "2026-07-28";

/// The revision of a message with a session that names none.
pub(super) const UNSAID: &str = "2025-03-26";

/// The header that names the revision.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header that names the session, in revisions that have one.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that repeats the method.
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The header that repeats the name of the tool or prompt, or the address of the resource.
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
