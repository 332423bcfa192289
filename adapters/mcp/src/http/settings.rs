//! How to listen, and what every request needs.

use std::time::Duration;

use std::sync::Arc;

use super::access::Access;
use super::client::{Clients, Unseen};
use super::principal::Tokens;
use super::sessions::Sessions;

/// The path at which messages are taken.
pub const PATH: &str = "/mcp";

/// How to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    /// By which names and pages the address may be called.
    pub access: Access,
    /// The accepted tokens; if empty, every client that reaches the address is accepted.
    pub tokens: Tokens,
    /// The largest request, in bytes. Answers may have any size.
    pub request_bytes: usize,
    /// How many connections are open at once; more wait.
    pub connections: usize,
    /// How many sessions there are at once; more are refused.
    pub sessions: usize,
    /// How long an unused session stays.
    pub idle: Duration,
    /// Who sees which process is behind a connection.
    pub clients: Arc<dyn Clients>,
    /// Whether `activate_skill` gives clients without a session handles.
    pub handles: bool,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            access: Access { loopback: true, ..Access::default() },
            tokens: Tokens::default(),
            request_bytes: 32 << 20,
            connections: 4096,
            sessions: 4096,
            idle: Duration::from_secs(30 * 60),
            clients: Arc::new(Unseen),
            handles: false,
        }
    }
}

/// What every request needs.
pub(super) struct Server {
    pub(super) settings: Listen,
    pub(super) sessions: Sessions,
}
