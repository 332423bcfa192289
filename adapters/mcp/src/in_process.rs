//! The guard inside of a server: any handler of the `rmcp` crate, with every tool call decided before it gets there.
//!
//! A [`Gate`] is made once in a process. It wraps a handler, or one handler for each session where the server makes them so,
//! and all of them share what it knows of sessions. What is no tool call passes unchanged.
//!
//! Whose call it is: over standard input and output (and any transport that is not HTTP), the session of the guarded client
//! that started the process, if it is one, else the connection's own. Over HTTP, the protocol's session where there is one;
//! else the one whose handle the call carries; else the default session of the principal. No call is judged in a session
//! that belongs to another.

mod deciding;
mod guarded;
mod handler;
mod listing;
mod own_tools;
mod sessions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phasegate_adapter::Guard;
use phasegate_adapter::guarded::{GuardedCall, GuardedCalls};
use rmcp::ServerHandler;
use rmcp::model::Extensions;
use rmcp::service::SubscriptionSink;

pub use guarded::Guarded;
use listing::Learned;
use sessions::Handles;

/// Who is behind a request, by what the server's own authentication left in it; `None`: nobody in particular.
type Principal = Arc<dyn Fn(&Extensions) -> Option<String> + Send + Sync>;

/// What stands before the handlers of one server process.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
    principal: Option<Principal>,
    own_tools: bool,
    hide_forbidden: bool,
    trusted: bool,
}

/// What all handlers of a gate share.
struct Shared {
    calls: GuardedCalls,
    server: String,
    handles: Handles,
    /// What the server says of its tools, by their names.
    learned: Mutex<HashMap<String, Learned>>,
    /// Who listens for changes of the list of tools, with the session they belong to.
    listeners: Mutex<Vec<(String, SubscriptionSink)>>,
    /// The calls that go on as tasks, by the task's id.
    tasks: Mutex<HashMap<String, GuardedCall>>,
}

impl Gate {
    /// A gate that asks this guard. `server` is the name by which skill configs know the server's tools.
    #[must_use]
    pub fn new(guard: Arc<dyn Guard>, server: impl Into<String>) -> Self {
        let server = crate::call::server_name(&server.into());
        let shared = Shared {
            calls: GuardedCalls::new(guard, "mcp"),
            server,
            handles: Handles::default(),
            learned: Mutex::default(),
            listeners: Mutex::default(),
            tasks: Mutex::default(),
        };
        Self { shared: Arc::new(shared), principal: None, own_tools: true, hide_forbidden: false, trusted: false }
    }

    /// Whether the server offers `activate_skill`, `deactivate_skill` and `get_skill_phase` besides its own tools; it does
    /// unless it is told otherwise. A tool of the server with one of these names is then out of reach.
    #[must_use]
    pub fn own_tools(self, own_tools: bool) -> Self {
        Self { own_tools, ..self }
    }

    /// Whether lists of tools leave out what the current phase forbids, and changes of it are announced.
    #[must_use]
    pub fn hide_forbidden(self, hide_forbidden: bool) -> Self {
        Self { hide_forbidden, ..self }
    }

    /// Whether what the server says of its tools (`readOnlyHint`, `destructiveHint`) is believed.
    #[must_use]
    pub fn trusted(self, trusted: bool) -> Self {
        Self { trusted, ..self }
    }

    /// How the server knows who is behind a request. Without a protocol session, each principal has one of their own.
    #[must_use]
    pub fn principal(self, principal: impl Fn(&Extensions) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { principal: Some(Arc::new(principal)), ..self }
    }

    /// The handler, guarded: what is served in its place.
    #[must_use]
    pub fn wrap<H: ServerHandler>(&self, handler: H) -> Guarded<H> {
        Guarded::new(self.clone(), handler)
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

/// A lock that a panic elsewhere does not close: what it holds is whole after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
