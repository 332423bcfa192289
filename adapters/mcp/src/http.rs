//! Streamable HTTP: links out of requests that clients send, and links to servers that are reached by an address.
//!
//! Two protocols share it. With a handshake (2025-11-25 and older) a client has a session, whose id it sends with each
//! request; one relay serves it. Without (2026-07-28) each request stands for itself; one relay serves the requests of a
//! handle, or those of a principal that name none.

mod access;
mod handle;
mod handshake;
mod outbox;
mod principal;
mod program;
mod refusal;
mod remote;
mod reply;
mod revision;
mod seat;
mod server;
mod sessions;
mod stateless;
mod tags;
mod upstream;

pub use access::Access;
pub use handle::{ARGUMENT, META};
pub use principal::{BadTokens, Principal, SHORTEST, Tokens};
pub use program::{Behind, over_http};
pub use remote::{BadRemote, Remote};
pub use server::{Listen, PATH, listen};
pub use sessions::Join;
pub use upstream::connect;
