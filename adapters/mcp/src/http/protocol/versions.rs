//! The revisions of the protocol, and the headers that name what a request is.

use hyper::header::HeaderName;

/// The supported revisions, newest first.
pub(in crate::http) const SUPPORTED: [&str; 5] = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revision without handshake and sessions.
pub(in crate::http) const STATELESS: &str = "2026-07-28";

/// The revision of a message with a session that names none.
pub(in crate::http) const UNSAID: &str = "2025-03-26";

/// The header that names the revision.
pub(in crate::http) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header that names the session, in revisions that have one.
pub(in crate::http) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that repeats the method.
pub(in crate::http) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The header that repeats the name of the tool or prompt, or the address of the resource.
pub(in crate::http) const NAME: HeaderName = HeaderName::from_static("mcp-name");
