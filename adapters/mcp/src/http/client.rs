//! Who is at the other end of a connection.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use super::principal::Principal;

/// Knows the processes at the other end of connections on this machine.
pub trait Clients: fmt::Debug + Send + Sync {
    /// The process behind a connection and the processes above it, the nearest first, each by a name that no other process
    /// has. Empty where that is not seen.
    fn behind(&self, connection: Ends) -> Vec<String>;
    /// Whether the process of this name has ended.
    fn is_gone(&self, process: &str) -> bool;
}

/// The ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// That of the client.
    pub client: SocketAddr,
    /// That of this process.
    pub own: SocketAddr,
}

/// Sees no process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unseen;

impl Clients for Unseen {
    fn behind(&self, _: Ends) -> Vec<String> {
        Vec::new()
    }

    fn is_gone(&self, _: &str) -> bool {
        false
    }
}

/// A connection; who is behind it is looked for when it is asked for first.
#[derive(Debug)]
pub(super) struct Connection {
    ends: Option<Ends>,
    processes: OnceLock<Vec<String>>,
}

impl Connection {
    pub(super) fn new(ends: Option<Ends>) -> Arc<Self> {
        Arc::new(Self { ends, processes: OnceLock::new() })
    }
}

/// Who sent a request.
pub(super) struct Client {
    pub(super) principal: Principal,
    /// Whether a token shows that.
    pub(super) proven: bool,
    pub(super) connection: Arc<Connection>,
}

impl Client {
    /// The client's process and those above it. Empty where a token says who the client is, or where no process is seen.
    pub(super) fn processes(&self, clients: &dyn Clients) -> &[String] {
        match self.connection.ends {
            Some(ends) if !self.proven => self.connection.processes.get_or_init(|| clients.behind(ends)),
            _ => &[],
        }
    }
}
