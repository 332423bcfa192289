//! Streamable HTTP: links out of requests that clients send, and links to servers that are reached by an address.
//!
//! Two protocols share it. With a handshake (2025-11-25 and older) a client has a session, whose id it sends with each
//! request; one relay serves it. Without (2026-07-28) each request stands for itself; one relay serves the requests of a
//! handle, or those of a principal that name none.

mod protocol;
mod access;
mod principal;
mod client;
mod handle;
mod id_rewriting;
mod replay_buffer;
mod endpoint;
mod remote;
mod upstream;
mod sessions;
mod settings;
mod handshake;
mod stateless;
mod server;
mod program;

pub use access::Access;
pub use client::{Clients, Ends};
pub use principal::{BadTokens, MIN_TOKEN_CHARS, Principal, Tokens};
pub use program::{Behind, over_http};
pub use remote::{BadRemote, Remote};
pub use server::listen;
pub use sessions::Join;
pub use settings::{Listen, PATH};
pub use upstream::connect;
