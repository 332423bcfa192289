//! What stands before the handlers of one server process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use phasegate_adapter::Guard;
use phasegate_adapter::guarded::{GuardedCall, GuardedCalls};
use rmcp::model::Extensions;
use rmcp::service::SubscriptionSink;

use crate::learned::Learned;
use crate::sessions::Handles;

/// The principal of a request, from the server's own authentication; `None` without one.
type Principal = Arc<dyn Fn(&Extensions) -> Option<String> + Send + Sync>;

/// What stands before the handlers of one server process.
#[derive(Clone)]
pub struct Gate {
    pub(super) shared: Arc<Shared>,
    pub(super) principal: Option<Principal>,
    pub(super) own_tools: bool,
    pub(super) hide_forbidden: bool,
    pub(super) trusted: bool,
    pub(super) handles: bool,
}

/// What all handlers of a gate share.
pub(super) struct Shared {
    pub(super) calls: GuardedCalls,
    pub(super) server: String,
    pub(super) handles: Handles,
    /// What the server says of its tools, by their names.
    pub(super) learned: Mutex<HashMap<String, Learned>>,
    /// Who listens for changes of the list of tools, with the session they belong to.
    pub(super) listeners: Mutex<Vec<(String, SubscriptionSink)>>,
    /// The calls that go on as tasks, by the task's id.
    pub(super) tasks: Mutex<HashMap<String, GuardedCall>>,
}

impl Gate {
    /// A gate that asks this guard. `server` is the name by which skill configs know the server's tools.
    #[must_use]
    pub fn new(guard: Arc<dyn Guard>, server: impl Into<String>) -> Self {
        let server = phasegate_mcp::message::tool_call::server_name(&server.into());
        let shared = Shared {
            calls: GuardedCalls::new(guard, "mcp"),
            server,
            handles: Handles::default(),
            learned: Mutex::default(),
            listeners: Mutex::default(),
            tasks: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            principal: None,
            own_tools: true,
            hide_forbidden: false,
            trusted: false,
            handles: false,
        }
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

    /// Whether `activate_skill` gives clients over HTTP without a session a handle, which names a session of its own. A
    /// call without the handle is judged in the session of its principal, so an agent that passes the handle itself can
    /// leave it out.
    #[must_use]
    pub fn handles(self, handles: bool) -> Self {
        Self { handles, ..self }
    }

    /// How the server knows who is behind a request. Without a protocol session, each principal has one of their own.
    #[must_use]
    pub fn principal(self, principal: impl Fn(&Extensions) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { principal: Some(Arc::new(principal)), ..self }
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("server", &self.shared.server).finish_non_exhaustive()
    }
}
